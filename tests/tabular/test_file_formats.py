"""Workbooks, archives, Arrow files, encodings, delimiters and lines that break."""

import gzip
import io
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from commands import predicted, run, write_csv
from hebnb.errors import InputError, ParameterError
from hebnb.tabular.files import open_table


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def rows(name, **how):
    with open_table(name, **how) as table:
        return table.collect().to_pylist()


def workbook(path="t.xlsx", **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, lines in sheets.items():
        sheet = book.create_sheet(name)
        for line in lines:
            sheet.append(line)
    book.save(path)


TABLE = [["x", "y"], [1, "p"], [2.5, "q"]]
EXPECTED = [{"x": 1.0, "y": "p"}, {"x": 2.5, "y": "q"}]


def test_a_workbook_with_one_sheet_of_data():
    workbook(Data=TABLE, Empty=[])
    assert rows("t.xlsx") == EXPECTED
    with pytest.raises(InputError, match="is empty"):
        rows("t.xlsx", sheet="Empty")


def test_several_sheets_are_listed():
    workbook(First=TABLE, Second=[["z"], [3]])
    with pytest.raises(ParameterError, match=r"several sheets with data: 'First', 'Second'"):
        rows("t.xlsx")
    assert rows("t.xlsx", sheet="Second") == [{"z": 3}]
    with pytest.raises(ParameterError, match="First"):
        rows("t.xlsx", sheet="Frist")
    assert "--sheet" in run("fit", "t.xlsx", "-t", "y", code=2).stderr


def test_cells_are_what_they_are():
    import datetime as dt

    lines = [
        ["text", "code", "number", "stored", "day", "moment", "truth", "time"],
        ["a", "007", 1, 5, dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3, 4, 5), True, dt.time(9, 30)],
        [None, "008", "#N/A", "6", None, None, None, None],
        [None] * 8,
        ["NA", "12", 2.5, 7, dt.date(2024, 12, 31), dt.datetime(2024, 1, 2), False, dt.time(10)],
    ]
    workbook(Data=lines)
    first, second, third = rows("t.xlsx")  # an empty row is none
    assert first == dict(zip(lines[0], lines[1], strict=True))
    assert second == dict.fromkeys(lines[0]) | {"code": "008", "stored": 6}
    assert third == dict(zip(lines[0], lines[4], strict=True))


def test_codes_beside_numbers_keep_their_zeros():
    """What is typed as text because it would lose its zeros shows that the numbers of the column are codes too."""
    workbook(Data=[["code", "stored", "below"], ["007", "6", "0.5"], [12, 7, 2], ["008", "2.50", "0"]])
    assert [tuple(row.values()) for row in rows("t.xlsx")] == [("007", 6, 0.5), ("12", 7, 2), ("008", 2.5, 0)]
    assert [row["code"] for row in rows("t.xlsx", numbers={"code": None})] == [7, 12, 8]


def test_codes_in_one_of_several_workbooks():
    workbook("a.xlsx", Data=[["code"], ["007"], [12]])
    workbook("b.xlsx", Data=[["code"], [13]])
    assert [row["code"] for row in rows("*.xlsx")] == ["007", "12", "13"]


def test_a_workbook_from_standard_input():
    workbook(Data=[["x", "y"], *([n, "pq"[n % 2]] for n in range(20))])
    run("fit", "t.xlsx", "-t", "y", "-m", "heb-m")
    data = Path("t.xlsx").read_bytes()
    assert len(run("predict", "model.skops", "-", stdin=data).stdout.splitlines()) == 21


def test_a_cell_far_away_does_not_fill_the_memory(monkeypatch):
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "x", 1
    book.save("t.xlsx")
    with pytest.raises(InputError, match="17,179,869,184 cells"):
        rows("t.xlsx")


@pytest.mark.parametrize("name", ["t.xlsx", "t.zip"])
def test_archives_that_would_become_large_are_refused(name):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/workbook.xml", "w") as member:
        for _ in range(200):
            member.write(b"0" * 1_000_000)
    assert Path(name).stat().st_size < 1_000_000
    with pytest.raises(InputError, match="would be 200 MB unpacked"):
        rows(name)


def test_what_is_no_archive():
    for name in ("t.xlsx", "t.zip", "t.feather"):
        Path(name).write_bytes(b"this is something else")
        with pytest.raises(InputError, match="cannot be"):
            rows(name)


def zipped(path="t.zip", **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_a_table_in_an_archive():
    zipped(**{"folder/": "", "folder/t.csv": "x,y\n1,p\n2.5,q\n", "__MACOSX/t.csv": "-", ".DS_Store": "-"})
    assert rows("t.zip") == EXPECTED
    workbook("inner.xlsx", Data=TABLE)
    zipped(**{"inner.xlsx": Path("inner.xlsx").read_bytes()})
    assert rows("t.zip") == EXPECTED


def test_several_tables_in_an_archive():
    zipped(**{"a-1.csv": "x,y\n1,p\n", "a-2.csv": "x,y\n2.5,q\n", "readme.txt": "hello"})
    with pytest.raises(InputError, match=r"has 3 files: 'a-1.csv', 'a-2.csv', 'readme.txt'"):
        rows("t.zip")
    assert rows("t.zip/a-2.csv") == EXPECTED[1:]
    assert rows("t.zip/a-*.csv") == EXPECTED
    with pytest.raises(InputError, match="has no 'b.csv'"):
        rows("t.zip/b.csv")


def test_names_in_an_archive_lead_nowhere_else():
    zipped(**{"../../../outside.csv": "x,y\n1,p\n2.5,q\n"})
    assert rows("t.zip") == EXPECTED
    assert not list(Path("..").glob("outside.csv"))


@pytest.mark.parametrize("ending", ["arrow", "feather", "ipc"])
def test_arrow_files_and_streams(ending):
    table = pa.table({"x": [1.0, 2.5], "y": pa.array(["p", "q"]).dictionary_encode()})
    pyarrow.feather.write_feather(table, f"t.{ending}")
    assert rows(f"t.{ending}") == EXPECTED
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    Path(f"s.{ending}").write_bytes(stream.getvalue())
    assert rows(f"s.{ending}") == EXPECTED
    assert rows(f"[ts].{ending}") == EXPECTED * 2


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-8", "utf-8-sig", "cp1252", "latin-1", "cp850", "utf-16-le", "utf-32"]
)
def test_encodings(encoding, ending):
    import gzip

    pack = gzip.compress if ending else bytes
    Path(f"t.csv{ending}").write_bytes(pack("naïve,y\né,p\nß,q\n".encode(encoding)))
    expected = [{"naïve": "é", "y": "p"}, {"naïve": "ß", "y": "q"}]
    assert rows(f"t.csv{ending}", encoding=encoding) == expected
    if encoding in ("utf-16", "utf-8", "utf-8-sig"):
        assert rows(f"t.csv{ending}") == expected
    elif encoding in ("cp1252", "latin-1"):
        with pytest.raises(InputError, match="is not UTF-8: line 1 has the byte 0xEF"):
            rows(f"t.csv{ending}")


def test_encodings_that_do_not_fit():
    Path("t.csv").write_bytes("x,y\n1,p\n2,é\n".encode("latin-1"))
    said = run("fit", "t.csv", "-t", "y", code=1).stderr
    assert "line 3 has the byte 0xE9" in said
    assert "--encoding cp1252" in said
    assert "is not utf-16" in run("fit", "t.csv", "-t", "y", "--encoding", "utf-16", code=1).stderr
    assert "'utf-9' is not known" in run("fit", "t.csv", "-t", "y", "--encoding", "utf-9", code=2).stderr


def test_delimiters():
    Path("t.csv").write_text("x~y\n1,5~p;\n2,5~q|\n")
    assert rows("t.csv", delimiter="~") == [{"x": 1.5, "y": "p;"}, {"x": 2.5, "y": "q|"}]
    Path("t.csv").write_text("x\ty,z\n1\tp\n2\tq\n" * 1)
    assert "y,z" in run("fit", "t.csv", "-t", "y,z", "--delimiter", r"\t", "-m", "heb-m").stderr
    for wrong in ("", "ab", '"', "\n"):
        with pytest.raises(ParameterError, match="one character"):
            rows("t.csv", delimiter=wrong)
    with pytest.raises(ParameterError, match="a point or a comma"):
        rows("t.csv", decimal=";")


RAGGED = 'x,t,y\n1,"two\nlines",p\n2,b\n3,"c, d",q\n4,a,b,c\n\n5,,p\n6,"",q\n'


def test_lines_that_break_are_named_or_left_out():
    Path("t.csv").write_text(RAGGED)
    said = run("fit", "t.csv", "-t", "y", code=1).stderr
    assert "line 4 of 't.csv' has 2 fields and the header 3" in said
    assert "--skip-bad-rows" in said
    assert [row["x"] for row in rows("t.csv", skip_bad_rows=True)] == [1, 3, 5, 6]
    said = run("fit", "t.csv", "-t", "y", "-m", "heb-m", "--skip-bad-rows").stderr
    assert "Left out 2 lines, the first line 4 of 't.csv' with 2 fields instead of 3." in said
    result = run("predict", "model.skops", "t.csv", "--skip-bad-rows")
    assert "6 rows read: 4 predicted, 2 left out." in result.stderr
    assert '5,,"p"' in result.stdout  # what stands stays as it stands
    assert '6,"","q"' in result.stdout
    assert len(predicted("model.skops", "t.csv", "--skip-bad-rows")) == 4


def test_bad_rows_of_several_files():
    write_csv("a-1.csv", {"x": ["1", "2"], "y": ["p", "q"]})
    Path("a-2.csv").write_bytes(b"x,y\r\n3,p\r\n4\r\n5,q,r\r\n6,q")
    with open_table("a-*.csv", skip_bad_rows=True) as table:
        assert table.collect()["x"].to_pylist() == [1, 2, 3, 6]
        assert table.decisions.told([]) == [
            "Left out 2 lines, the first line 3 of 'a-2.csv' with 1 field instead of 2."
        ]


def test_addresses_are_refused():
    for address in ("https://example.org/t.csv", "s3://bucket/t.parquet"):
        said = run("fit", address, "-t", "y", code=1).stderr
        assert "hebnb reads files, and fetches nothing" in said
        assert f"curl -O {address}" in said


def test_excel_and_csv_are_one_table():
    frame = pd.DataFrame({"x": [1, None, 3] * 10, "y": ["p", "q", "p"] * 10})
    frame.to_excel("t.xlsx", index=False)
    frame.to_csv("t.csv", index=False)
    run("fit", "t.xlsx", "-t", "y", "-m", "heb-m")
    assert [row["proba_p"] for row in predicted("model.skops", "t.xlsx")] == [
        row["proba_p"] for row in predicted("model.skops", "t.csv")
    ]


@pytest.mark.parametrize("text", ["x,y\n1,p\n2,q\n", "größe;y\n1;p\n2;q\n", "имя\nа\nб\n"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("encoding", ["utf-16le", "utf-16be"])
def test_utf_16_without_a_mark_is_named(name, encoding, text):
    data = text.encode(encoding)
    Path(name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    with pytest.raises(InputError, match=rf"(?s)is not UTF-8.*encoding {encoding}, most likely"):
        rows(name)
    assert len(rows(name, encoding=encoding)) == 2


def test_utf_16_without_a_mark_from_standard_input():
    said = run("inspect", "-", stdin="x,y\n1,p\n".encode("utf-16le"), code=1).stderr
    assert "--encoding utf-16le" in said


def test_a_nul_byte_further_down_is_text():
    Path("t.csv").write_bytes(b"x,y\n1,p\0\n2,q\n")
    assert [row["y"] for row in rows("t.csv")] == ["p\0", "q"]
