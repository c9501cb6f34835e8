"""Files as people's tools write them, and a page of what the program says about each."""

import random
import shlex
from dataclasses import dataclass

from commands import run

DRAW = random.Random(3)
ROWS = [
    (
        DRAW.choice([20, 23, 26, 30, 35, 41, 48, 52]),
        1000.5 + 125.25 * DRAW.randrange(12),
        DRAW.choice(["Köln", "Bern", "Wien", "Graz"]),
        DRAW.choice(["yes", "no"]),
    )
    for _ in range(60)
]
NAMES = ["age", "income", "city", "bought"]


@dataclass(frozen=True)
class Case:
    """A file, how it came about, the commands that are run on it and how they end."""

    title: str
    story: str
    name: str
    content: bytes
    commands: tuple[tuple[str, int], ...]
    shown: str = "utf-8"
    lines: int = 4


def german(number):
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def table(change=lambda *row: row, separator=",", header=NAMES, end="\n"):
    """The table, every row changed in some way."""
    return end.join(separator.join(map(str, row)) for row in [header, *(change(*row) for row in ROWS)]) + end


def with_word(word):
    """The table with a word instead of some incomes."""
    return lambda age, income, *rest: (age, word if income > 2000 else income, *rest)


def edited(line, change):
    """The table with a line changed, from 1."""
    lines = table().splitlines()
    lines[line - 1] = change(lines[line - 1])
    return "\n".join(lines) + "\n"


FIT = "hebnb fit {} -t bought -m HEB-M --overwrite"


def fit(name, *options, code=0):
    return " ".join([FIT.format(name), *options]), code


def case(title, story, name, content, *commands, **more):
    data = content if isinstance(content, bytes) else content.encode()
    return Case(title, story, name, data, commands or (fit(name),), **more)


CASES = [
    case(
        "Excel in German",
        "*Save as CSV* in a German Excel: semicolons, decimal commas, points between thousands, Windows-1252.",
        "umsatz.csv",
        table(lambda age, income, *rest: (age, german(income), *rest), ";", end="\r\n").encode("cp1252"),
        fit("umsatz.csv", code=1),
        fit("umsatz.csv", "--encoding cp1252"),
        shown="cp1252",
    ),
    case(
        "Excel, Unicode text",
        "*Unicode Text (.txt)*: UTF-16 with a byte-order mark, and tabs.",
        "sales.txt",
        table(separator="\t", end="\r\n").encode("utf-16"),
        shown="utf-16",
    ),
    case(
        "Errors of Excel",
        "Formulas that failed are written as what Excel shows.",
        "sheet.csv",
        table(with_word("#DIV/0!")),
    ),
    case(
        "R, write.csv",
        "Row names become a column without a name, and gaps `NA`.",
        "frame.csv",
        "".join(f'"{"" if n == 0 else n}",{line}\n' for n, line in enumerate(table(with_word("NA")).splitlines())),
    ),
    case(
        "R, write.table",
        "The header has no field for row names, so that every line has one more.",
        "frame.csv",
        "".join(f"{n},{line}\n" if n else f"{line}\n" for n, line in enumerate(table().splitlines())),
        fit("frame.csv", code=1),
    ),
    case("SAS", "A missing number is a point.", "export.csv", table(with_word("."))),
    case(
        "PostgreSQL, \\copy",
        "Tabs, and `\\N` for NULL, in numbers and in text.",
        "dump.tsv",
        table(
            lambda age, income, city, y: (age, r"\N" if income > 2000 else income, r"\N" if age == 35 else city, y),
            "\t",
        ),
        fit("dump.tsv"),
        fit("dump.tsv", r"--na '\N'"),
    ),
    case("Weka", "Gaps are question marks.", "data.csv", table(with_word("?"))),
    case(
        "pandas, with the index",
        "`to_csv()` without `index=False`; numbers that are not there are empty, or `nan` where they were text.",
        "frame.csv",
        "".join(f"{'' if n == 0 else n - 1},{line}\n" for n, line in enumerate(table(with_word("nan")).splitlines())),
    ),
    case(
        "A byte-order mark",
        "UTF-8 as Excel writes it, with a quoted name at the beginning.",
        "marked.csv",
        "\ufeff" + table(header=['"age"', *NAMES[1:]]),
        shown="utf-8-sig",
    ),
    case("Line ends of Windows", "A carriage return and a line feed.", "windows.csv", table(end="\r\n")),
    case("Line ends of old Macs", "A carriage return alone.", "mac.csv", table(end="\r")),
    case(
        "Ragged lines",
        "A comma too many in one line, and a line that was cut off.",
        "ragged.csv",
        edited(4, lambda line: line + ", or so") + "35,1501.5\n",
        fit("ragged.csv", code=1),
        fit("ragged.csv", "--skip-bad-rows"),
    ),
    case(
        "Line breaks in fields",
        "Quotation marks keep them in the field.",
        "notes.csv",
        table(lambda age, income, city, y: (age, income, f'"{city},\nher ""home"""', y)),
        lines=5,
    ),
    case(
        "A quotation mark that is not closed",
        "The rest of the file is one field.",
        "open.csv",
        edited(4, lambda line: '"' + line),
        fit("open.csv", code=1),
    ),
    case(
        "A title above the header",
        "As reports have it.",
        "report.csv",
        "Sales of the year\n\n" + table(),
        fit("report.csv", code=1),
    ),
    case(
        "A total below",
        "The last line is no row, but has as many fields as one. A column of numbers shows it.",
        "report.csv",
        table() + f"Total,{sum(row[1] for row in ROWS)},,\n",
        lines=2,
    ),
    case(
        "The same name twice",
        "As joins leave it.",
        "joined.csv",
        table(
            lambda age, income, city, y: (age, income, city, age + 1, y),
            header=["age", "income", "city", "age", "bought"],
        ),
    ),
    case(
        "Names that are empty",
        "Columns that nobody named.",
        "nameless.csv",
        table(header=["age", "", "", "bought"]),
    ),
    case("Separators at the end", "Every line ends with one, the header too.", "ends.csv", table(end=",\n")),
    case(
        "Separators at the end, but for the header",
        "The header has one field less than the lines, whose last is empty.",
        "ends.csv",
        table(end=",\n").replace("bought,", "bought", 1),
    ),
    case(
        "Thousands",
        "Numbers as people like to see them.",
        "large.csv",
        table(lambda age, income, *rest: (age, f'"{1000 * income:,.1f}"', *rest)),
    ),
    case(
        "A comma that could be either",
        "All numbers have three digits behind it. Nothing in the file says what it means, so what was assumed is told.",
        "either.csv",
        table(lambda age, income, *rest: (age, f'"{age},{100 + age}"', *rest)),
        fit("either.csv"),
        fit("either.csv", "--decimal ,"),
    ),
    case(
        "Money and percentages",
        "Signs beside numbers.",
        "prices.csv",
        table(lambda age, income, city, y: (f"{age} %", f'"${income:,.2f}"', city, y)),
    ),
    case(
        "Dates that could be either",
        "No day is above twelve.",
        "days.csv",
        table(lambda age, *rest: (f"0{age % 9 + 1}/0{age % 5 + 1}/2024", *rest), header=["day", *NAMES[1:]]),
    ),
    case(
        "Dates in two formats",
        "Two people filled in the table.",
        "days.csv",
        table(
            lambda n, *rest: (f"{n % 28 + 1:02}.01.2024" if n % 8 == 7 else f"2024-01-{n % 28 + 1:02}", *rest),
            header=["day", *NAMES[1:]],
        ),
    ),
    case(
        "A word among numbers",
        "It is not one that is known to mean a gap.",
        "survey.csv",
        edited(4, lambda line: ",".join(["20", "refused", *line.split(",")[2:]])),
        fit("survey.csv"),
        fit("survey.csv", "--na refused"),
    ),
    case(
        "NA in text",
        "It may mean a gap, Namibia or North America.",
        "regions.csv",
        table(lambda age, income, city, y: (age, income, "NA" if age % 4 == 0 else city, y)),
        fit("regions.csv"),
        fit("regions.csv", "--na NA"),
    ),
    case(
        "Spaces around values",
        "Numbers and names do not mind; text keeps them.",
        "spaced.csv",
        table(separator=", "),
    ),
    case(
        "A single column",
        "There is nothing to learn from.",
        "single.csv",
        table(lambda *row: row[3:], header=["bought"]),
        fit("single.csv", code=1),
    ),
    case("An empty file", "Somebody's export failed.", "empty.csv", "", fit("empty.csv", code=1), lines=0),
    case("A header alone", "The query found nothing.", "header.csv", "age,bought\n", fit("header.csv", code=1)),
]


def said(case):
    """What every command prints."""
    for line, code in case.commands:
        _, *arguments = shlex.split(line)
        result = run(*arguments, code=code)
        lines = [one for one in (result.stdout + result.stderr).splitlines() if not one.startswith("model.skops (")]
        yield line, "\n".join(one.rstrip() for one in lines)


def beginning(case):
    """The first lines of a file, as text."""
    lines = case.content.decode(case.shown).replace("\r\n", "\n").replace("\r", "\n").splitlines()
    more = ["…"] if len(lines) > case.lines else []
    return "\n".join([*lines[: case.lines], *more])


def section(case):
    """A file, what is run on it, and what is said."""
    parts = [f"## {case.title}", case.story]
    if case.lines:
        parts.append(f"```text\n{beginning(case)}\n```")
    for line, printed in said(case):
        parts.append(f"```console\n$ {line.replace(' -m HEB-M --overwrite', '')}\n{printed}\n```")
    return "\n\n".join(parts)


INTRODUCTION = """# Files as people write them

Tables as people's tools write them, and what the program says about each: what it decided, what it assumed, or what is
wrong and what helps. Every file has the same 60 rows but for what is the matter with it.

`tests/tabular/test_hostile_files.py` makes this page by running the commands, with `--method HEB-M`, and fails where
the page does not say what they say. `HEBNB_WRITE=1 pytest tests/tabular/test_hostile_files.py` writes it anew."""
