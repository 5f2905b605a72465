"""pto-lsp-server speaks the language server protocol: errors, hover, definitions."""

from __future__ import annotations

import json
import subprocess
import threading

import pytest
from tools_of_tree import tool

TEXT = """!V = !pto.tile_buf<vec, 16x64xf32>
func.func @kernel(%a: !V, %b: !V) {
  %t = pto.alloc_tile : !V
  pto.tadd ins(%a, %b : !V, !V) outs(%t : !V)
  func.call @helper() : () -> ()
  return
}
func.func private @helper()
"""
URI = "file:///kernel.pto"


class Client:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [tool("pto-lsp-server")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.guard = threading.Timer(300, self.process.kill)
        self.guard.start()
        self.number = 0
        self.notes: list[dict] = []
        self.ask("initialize", processId=None, rootUri=None, capabilities={})
        self.tell("initialized")

    def send(self, message: dict) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self) -> dict:
        length = 0
        while (line := self.process.stdout.readline().strip()) != b"":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert length, "the server has ended"
        return json.loads(self.process.stdout.read(length))

    def tell(self, method: str, **params) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, **params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while (message := self.receive()).get("id") != self.number:
            self.notes.append(message)
        return message["result"]

    def open(self, text: str, uri: str = URI) -> list[dict]:
        """The errors of a text."""
        item = {"uri": uri, "languageId": "mlir", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=item)
        return self.diagnostics(uri)

    def diagnostics(self, uri: str = URI) -> list[dict]:
        while True:
            message = self.notes.pop(0) if self.notes else self.receive()
            if message.get("method") != "textDocument/publishDiagnostics":
                continue
            if message["params"]["uri"] == uri:
                return message["params"]["diagnostics"]

    def at(self, method: str, text: str, word: str):
        """Asks about the first place of `word` in `text`."""
        before = text[: text.index(word)]
        position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        return self.ask(method, textDocument={"uri": URI}, position=position)

    def close(self) -> int:
        self.ask("shutdown")
        self.tell("exit")
        self.process.stdin.close()
        code = self.process.wait()
        self.guard.cancel()
        return code


def marked(text: str, item: dict) -> str:
    """The text that a range covers; columns count UTF-16 units."""
    lines = [line.encode("utf-16-le") for line in text.split("\n")]
    start, end = item["range"]["start"], item["range"]["end"]
    covered = lines[start["line"] : end["line"] + 1]
    covered[-1] = covered[-1][: 2 * end["character"]]
    covered[0] = covered[0][2 * start["character"] :]
    return b"\n\0".join(covered).decode("utf-16-le")


@pytest.fixture
def client():
    client = Client()
    yield client
    client.guard.cancel()
    if client.process.poll() is None:
        client.process.kill()
        client.process.wait()


def test_errors_come_while_typing(client):
    assert client.open(TEXT) == []
    wrong = TEXT.replace("outs(%t : !V)", "outs(%t : f32)")
    change = [{"text": wrong}]
    client.tell(
        "textDocument/didChange",
        textDocument={"uri": URI, "version": 2},
        contentChanges=change,
    )
    (error,) = client.diagnostics()
    assert "'pto.tadd' op operand 'dst' must be a tile" in error["message"]
    assert marked(wrong, error) == "pto.tadd ins(%a, %b : !V, !V) outs(%t : f32)"


def test_rules_are_checked(client):
    (error,) = client.open(
        TEXT.replace("%b: !V", "%b: !H")
        .replace(": !V, !V)", ": !V, !H)")
        .replace("func.func @kernel", "!H = !pto.tile_buf<vec, 16x64xf16>\nfunc.func @kernel")
    )
    assert "element types of 'src0' and 'src1' must be equal" in error["message"]


TILES = "!V = !pto.tile_buf<vec, 16x64xf32>\n!H = !pto.tile_buf<vec, 16x64xf16>\n"


@pytest.mark.parametrize(
    ("body", "covered"),
    [
        # An op reaches from its name to its last type; what stands behind does not count.
        ("pto.tadd ins(%a, %b : !V, !H) outs(%a : !V) // sum", None),
        ("pto.tadd ins(%a, %b : !V, !H)\n      outs(%a : !V)", None),
        ('%s = "pto.tadd"(%a, %b, %a) : (!V, !H, !V) -> ()', "%s"),
        ('pto.tabs ins(%a : !V) outs(%b : !H) {speed = "ü"}', None),
        # A token.
        ("pto.tadd ins(%a, %unknown : !V, !V) outs(%a : !V)", "%unknown"),
        ("pto.barrier <PIPE_NO>", "PIPE_NO"),
        ("pto.tadd ins(%a, %b : !V, !Missing) outs(%a : !V)", "!Missing"),
        # An op with a body ends where the body opens.
        ("scf.for %i = %c0 to %c0 step %c0 {\n    }", "scf.for %i = %c0 to %c0 step %c0"),
    ],
)
def test_errors_cover_what_is_wrong(client, body, covered):
    text = f"""{TILES}func.func @f(%a: !V, %b: !H) {{
    %c0 = arith.constant 0 : index
    {body}
    return
}}
"""
    error = client.open(text)[0]
    assert marked(text, error) == (covered or body.partition(" //")[0]), error["message"]


FIFO = """!A = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!V = !pto.tile_buf<vec, 16x16xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %a = arith.constant 0 : i64
    %z = arith.constant 0 : i32
    %b = pto.import_reserved_buffer {name = "q", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true}
      (c2v_consumer_buf = %b : i32, v2c_consumer_buf = %z : i32)
    %t = pto.alloc_tile addr = %a : !A
    pto.tpush_to_aiv(%t : !A) {split = 0}
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %z = arith.constant 0 : i32
    %b = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true}
      (c2v_consumer_buf = %b : i32, v2c_consumer_buf = %z : i32)
    %t = pto.tpop_from_aic {split = 0} -> !V
    pto.tfree_from_aic {split = 0}
    return
  }
}
"""


def test_fifos_and_addresses(client):
    """A file of level3 with a FIFO: nothing is wrong with it, and everything in it is found."""
    assert client.open(FIFO) == []
    for op, words in (
        ("pto.aic_initialize_pipe", "The cube core joins a FIFO."),
        ("pto.tpush_to_aiv", "Send a tile from the cube core to the vector cores."),
        ("pto.alloc_tile", "`addr` is its byte address"),
    ):
        assert words in client.at("textDocument/hover", FIFO, op)["contents"]["value"]
    for word, line in (("@vector} ->", 13), ("%t : !A) {split", 9), ("%b : i32, v2c", 6)):
        (place,) = client.at("textDocument/definition", FIFO, word)
        assert place["range"]["start"]["line"] == line
    (module,) = client.ask("textDocument/documentSymbol", textDocument={"uri": URI})
    assert [(f["name"], f["range"]["start"]["line"]) for f in module["children"]] == [
        ("cube", 3),
        ("vector", 13),
    ]
    (error,) = client.open(FIFO.replace("slot_size = 1024, nosplit", "slot_size = 0, nosplit", 1))
    assert marked(FIFO, error).startswith("pto.aic_initialize_pipe {dir_mask = 1")


def test_the_assembler_is_asked_too(client):
    deep = "func.func @f() {" + "scf.execute_region {" * 300 + "}" * 301
    messages = [d["message"] for d in client.open(deep, "file:///deep.pto")]
    assert "brackets nest deeper than 256 levels" in messages
    messages = [d["message"] for d in client.open("module {\n\x00}", "file:///zero.pto")]
    assert "the file is no text: it holds a byte 0 here" in messages
    recursion = TEXT.replace("@helper() :", "@other() :").replace(
        "func.func private @helper()",
        "func.func private @other() {\n  func.call @other() : () -> ()\n  return\n}",
    )
    (error,) = client.open(recursion)
    assert error["message"].startswith("recursion: '@other' calls itself")
    assert error["range"]["start"] == {"line": 8, "character": 2}
    # A change of a part of the text is followed.
    client.tell(
        "textDocument/didChange",
        textDocument={"uri": URI, "version": 2},
        contentChanges=[
            {
                "range": {
                    "start": {"line": 8, "character": 0},
                    "end": {"line": 9, "character": 0},
                },
                "text": "",
            }
        ],
    )
    assert client.diagnostics() == []


def test_every_function_reports_its_syntax_error(client):
    text = TEXT.replace("outs(%t : !V)", "outs(%t : f32)").replace(
        "func.func private @helper()",
        "func.func @helper() {\n  pto.barrier <PIPE_NO>\n  return\n}",
    )
    errors = client.open(text)
    assert [d["range"]["start"]["line"] for d in errors] == [3, 8]
    assert "'dst' must be a tile" in errors[0]["message"]
    assert "unknown pipe 'PIPE_NO'" in errors[1]["message"]


# Modules of one file, parted as MLIR's tools part them. Names of one mean nothing in the other.
PARTS = (
    TEXT
    + """// -----
module {
  func.func @other(%x: !pto.tile_buf<vec, 8x32xf16>) {
    %u = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf16>
    pto.texp ins(%x : !pto.tile_buf<vec, 8x32xf16>) outs(%u : !pto.tile_buf<vec, 8x32xf16>)
    func.call @helper() : () -> ()
    return
  }
  func.func private @helper()
}
"""
)


def test_parts_of_a_file_are_modules_of_their_own(client):
    assert client.open(PARTS) == []
    contents = client.at("textDocument/hover", PARTS, "pto.texp")["contents"]
    assert contents["value"].startswith("dst = e to the power of src.")
    (place,) = client.at("textDocument/definition", PARTS, "%u : !pto.tile_buf")
    assert place["range"]["start"]["line"] == 11
    for word, line in (("@helper() : () -> ()\n  return", 7), ("@helper() : () -> ()\n    re", 16)):
        (place,) = client.at("textDocument/definition", PARTS, word)
        assert place["range"]["start"]["line"] == line


@pytest.mark.parametrize(
    ("change", "line", "column", "message"),
    [
        (("private @helper()\n}", "@helper() {}\n}"), 16, 22, "a body must not be empty"),
        (("outs(%u : ", "outs(%u :: "), 12, 61, "expected a type, got ':'"),
        (
            ("private @helper()\n}", "private @elsewhere()\n}"),
            13,
            4,
            "calls '@helper', which the module",
        ),
        (("%u = pto", "%a0 = arith.constant 0 : i64\n%u = pto"), None, None, None),
        (("tile : !pto", "tile {speed = 1} : !pto"), 11, 9, "does not know the attribute 'speed'"),
        (
            ("func.call @helper() : () -> ()\n    return", "func.call @other(%x) : (!X) -> ()"),
            13,
            28,
            "the alias 'X' is not defined",
        ),
        (
            (
                "func.call @helper() : () -> ()\n    return",
                "func.call @other(%x) : (!pto.tile_buf<vec, 8x32xf16>) -> ()\n    return",
            ),
            13,
            4,
            "recursion: '@other' calls itself",
        ),
    ],
)
def test_errors_of_a_part_stand_at_their_lines(client, change, line, column, message):
    assert PARTS.count(change[0]) == 1
    errors = client.open(PARTS.replace(*change))
    if message is None:
        assert errors == []
        return
    assert [message in d["message"] for d in errors] == [True], errors
    assert errors[0]["range"]["start"] == {"line": line, "character": column}


def test_hover_shows_the_documentation_of_the_op(client):
    client.open(TEXT)
    contents = client.at("textDocument/hover", TEXT, "pto.tadd")["contents"]
    assert contents["kind"] == "markdown"
    assert contents["value"].startswith("dst = src0 + src1.")
    assert "Queue: V" in contents["value"] and "`TADD`" in contents["value"]
    # What MLIR's server says is still there.
    assert '"pto.tadd"' in contents["value"]


def test_definition_of_values_and_functions(client):
    client.open(TEXT)
    (place,) = client.at("textDocument/definition", TEXT, "%t : !V)")
    assert place["range"]["start"]["line"] == 2
    (place,) = client.at("textDocument/definition", TEXT, "@helper() :")
    assert place["range"]["start"]["line"] == 7


def test_bad_texts_do_not_end_the_server(client):
    deep = "func.func @f() {" + "scf.execute_region {" * 3000
    assert client.open("\x00\x01", "file:///zero.pto")
    assert client.open(deep, "file:///deep.pto")
    assert client.open("}" * 1000, "file:///braces.pto")
    assert client.open("", "file:///empty.pto") == []
    assert client.open(TEXT) == []
    assert client.close() == 0


def test_damaged_messages_end_the_server():
    message = b"Content-Length: x\r\n\r\n{}"
    run = subprocess.run([tool("pto-lsp-server")], input=message, capture_output=True, timeout=300)
    assert run.returncode in (0, 1)


@pytest.mark.parametrize(
    "body",
    [
        b"{nope",
        b"[1, 2, 3]",
        b"42",
        b"null",
        b"{}",
        b"[" * 100000 + b"]" * 100000,
        b'{"jsonrpc": "2.0", "method": "x", "params": ' + b"[" * 100000 + b"]" * 100000 + b"}",
    ],
    ids=["cut", "array", "number", "null", "no-version", "deep", "deep-params"],
)
def test_messages_that_are_none_are_ignored(client, body):
    client.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert client.open(TEXT) == []
    assert client.close() == 0
