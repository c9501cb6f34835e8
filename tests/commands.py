"""Running commands in tests."""

import csv
import io
from pathlib import Path

from typer.testing import CliRunner

from hebnb.cli.app import app


def run(*arguments, stdin=None, code=0):
    """What a command prints, which ends as expected and without a traceback."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    return result


def write_csv(name, columns):
    """A CSV file of columns of text."""
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def predicted(*arguments):
    """The rows that predict prints."""
    return list(csv.DictReader(io.StringIO(run("predict", *arguments).stdout)))
