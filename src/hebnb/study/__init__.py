"""The empirical study of the paper, replicated by one command: ``python -m hebnb.study``.

    datasets → protocol → runner → store → statistics → tables, figures → page
    (registry)  (folds,     (processes,  (SQLite)
                 methods)    progress)

Needs the ``study`` extra: ``pip install ".[study]"``.
"""
