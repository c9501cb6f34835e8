"""The arena: our methods beside other people's programs, by ``python -m hebnb.study --arena``.

    folds → contenders → measuring → running → store → comparing → tables, figures → page
    (raw     (theirs and   (one fold,   (processes,  (JSON
     rows)    ours)         tuned too)   limits)      lines)

Needs the ``arena`` extra for everybody else's programs: ``pip install ".[arena]"``. One that is not installed is
recorded as such.
"""
