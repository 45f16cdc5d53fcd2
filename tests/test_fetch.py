"""The downloader against a server on this machine: whole, cut off, wrong, missing, slow; never a damaged file."""

from __future__ import annotations

import contextlib
import hashlib
import io
import threading
import time
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from covote.datasets.fetch import Patience, fetch_dataset, fetch_known
from covote.datasets.known import KNOWN, KnownSet, Origin, RemoteFile
from covote.errors import FileError, InputError

CONTENT = bytes(range(256)) * 800  # 204,800 bytes: several chunks
SHA256 = hashlib.sha256(CONTENT).hexdigest()
QUICK = Patience(silence=2.0, total=10.0, retries=2, pause=0.01)


class Site(BaseHTTPRequestHandler):
    """Behaves as the last part of the address says; remembers what was asked."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        kind = self.path.strip("/").split("/")[-1]
        self.server.asked.append((kind, self.headers.get("Range")))
        if not hasattr(self, f"send_{kind}"):
            self.send_error(404)
            return
        with contextlib.suppress(OSError):  # the client may have gone
            getattr(self, f"send_{kind}")()

    def head(self, status, length, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def start(self):
        """The first byte asked for; answers 206 and sends headers when that is not 0."""
        asked = self.headers.get("Range")
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        if start:
            self.head(206, len(CONTENT) - start, Content_Range=f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        else:
            self.head(200, len(CONTENT))
        return start

    def send_whole(self):
        self.wfile.write(CONTENT[self.start() :])

    def send_truncated(self):
        """A hundred bytes at a time."""
        start = self.start()
        self.wfile.write(CONTENT[start : start + 100])

    def send_halves(self):
        """The first time half of the file, then the rest."""
        first = len(self.server.asked) == 1
        start = self.start()
        self.wfile.write(CONTENT[start : len(CONTENT) // 2] if first else CONTENT[start:])

    def send_forgetful(self):
        """Knows no ranges: cuts the first answer off, then sends everything again."""
        self.head(200, len(CONTENT))
        self.wfile.write(CONTENT[:5000] if len(self.server.asked) == 1 else CONTENT)

    def send_wrong(self):
        self.head(200, len(CONTENT))
        self.wfile.write(CONTENT[:-1] + b"?")

    def send_endless(self):
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(CONTENT)

    def send_silent(self):
        self.start()
        time.sleep(1.0)

    def send_dripping(self):
        self.start()
        for byte in range(100):
            self.wfile.write(bytes([byte]))
            time.sleep(0.1)

    def send_busy(self):
        """Overloaded the first time."""
        if len(self.server.asked) == 1:
            self.send_error(503)
        else:
            self.send_whole()

    def send_archive(self):
        body = zipped({"notes.txt": b"hello", "crowd.txt": CONTENT})
        self.head(200, len(body))
        self.wfile.write(body)

    def send_hollow(self):
        body = zipped({"notes.txt": b"hello"})
        self.head(200, len(body))
        self.wfile.write(body)

    def send_bomb(self):
        body = zipped({"crowd.txt": b"0" * 5_000_000})
        self.head(200, len(body))
        self.wfile.write(body)


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


@pytest.fixture
def server():
    site = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    site.asked = []
    thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield site
    site.shutdown()
    thread.join()
    site.server_close()


def the_set(server, *kinds, member=None):
    address = f"http://127.0.0.1:{server.server_address[1]}"
    origins = tuple(Origin(f"{address}/{kind}", member=member) for kind in kinds)
    file = RemoteFile("amt/small/crowd.txt", len(CONTENT), SHA256, origins)
    return KnownSet("small", "amt", "A small set.", 2, 10, 3, (file,))


def everything(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def test_a_whole_file_arrives_with_progress(server, tmp_path):
    steps = []
    place = fetch_known(
        the_set(server, "whole"), tmp_path / "data", patience=QUICK, progress=lambda *s: steps.append(s)
    )
    assert place == tmp_path / "data" / "amt" / "small"
    assert (place / "crowd.txt").read_bytes() == CONTENT
    assert everything(place) == ["crowd.txt"]
    assert steps[-1] == ("amt/small/crowd.txt", len(CONTENT), len(CONTENT))
    assert [s[1] for s in steps] == sorted(s[1] for s in steps)


def test_what_is_there_and_right_is_not_asked_for_again(server, tmp_path):
    for _ in range(2):
        fetch_known(the_set(server, "whole"), tmp_path, patience=QUICK)
    assert len(server.asked) == 1


def test_a_damaged_file_is_replaced(server, tmp_path):
    place = fetch_known(the_set(server, "whole"), tmp_path, patience=QUICK)
    (place / "crowd.txt").write_bytes(b"something else")
    fetch_known(the_set(server, "whole"), tmp_path, patience=QUICK)
    assert (place / "crowd.txt").read_bytes() == CONTENT


@pytest.mark.parametrize("kind", ["halves", "forgetful", "busy"])
def test_a_failure_that_passes_is_retried(server, tmp_path, kind):
    place = fetch_known(the_set(server, kind), tmp_path, patience=QUICK)
    assert (place / "crowd.txt").read_bytes() == CONTENT
    assert len(server.asked) == 2


def test_a_retry_goes_on_where_the_transfer_stopped(server, tmp_path):
    fetch_known(the_set(server, "halves"), tmp_path, patience=QUICK)
    assert server.asked == [("halves", None), ("halves", f"bytes={len(CONTENT) // 2}-")]


def test_truncated_is_an_error_and_the_next_call_goes_on(server, tmp_path):
    with pytest.raises(FileError, match=r"Could not download amt/small/crowd.txt: .*stopped after 300 of 204800 bytes"):
        fetch_known(the_set(server, "truncated"), tmp_path, patience=QUICK)
    assert everything(tmp_path) == ["amt", "amt/small", "amt/small/.crowd.txt.part"]
    place = fetch_known(the_set(server, "whole"), tmp_path, patience=QUICK)
    assert server.asked[-1] == ("whole", "bytes=300-")
    assert (place / "crowd.txt").read_bytes() == CONTENT


def test_a_beginning_of_another_version_is_dropped(server, tmp_path):
    part = tmp_path / "amt" / "small" / ".crowd.txt.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"old version")
    place = fetch_known(the_set(server, "whole"), tmp_path, patience=QUICK)
    assert (place / "crowd.txt").read_bytes() == CONTENT
    assert everything(place) == ["crowd.txt"]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("wrong", "did not send the expected bytes"),
        ("missing", "answered 404 Not Found"),
        ("endless", "sends more than the 204800 bytes expected"),
        ("silent", "was silent for 0.3 seconds"),
    ],
)
def test_a_file_that_cannot_be_had_leaves_nothing(server, tmp_path, kind, reason):
    begin = time.monotonic()
    with pytest.raises(FileError, match=reason) as caught:
        fetch_known(the_set(server, kind), tmp_path / "data", patience=replace(QUICK, silence=0.3))
    assert str(caught.value).endswith("crowd.txt.")
    assert everything(tmp_path) == []
    assert time.monotonic() - begin < 5


def test_a_missing_file_is_not_asked_for_twice(server, tmp_path):
    with pytest.raises(FileError):
        fetch_known(the_set(server, "missing"), tmp_path, patience=QUICK)
    assert len(server.asked) == 1


def test_a_slow_server_is_given_up_in_time(server, tmp_path):
    begin = time.monotonic()
    with pytest.raises(FileError, match="too slow"):
        fetch_known(
            the_set(server, "dripping"), tmp_path, patience=Patience(silence=1, total=0.5, retries=3, pause=0.01)
        )
    assert time.monotonic() - begin < 3


def test_the_next_origin_is_tried(server, tmp_path):
    place = fetch_known(the_set(server, "missing", "whole"), tmp_path, patience=QUICK)
    assert (place / "crowd.txt").read_bytes() == CONTENT


def test_a_file_comes_out_of_an_archive(server, tmp_path):
    place = fetch_known(the_set(server, "archive", member="crowd.txt"), tmp_path, patience=QUICK)
    assert (place / "crowd.txt").read_bytes() == CONTENT
    assert everything(place) == ["crowd.txt"]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("hollow", "cannot be unpacked"), ("bomb", "expected bytes"), ("whole", "cannot be unpacked")],
)
def test_a_bad_archive_leaves_nothing(server, tmp_path, kind, reason):
    with pytest.raises(FileError, match=reason):
        fetch_known(the_set(server, kind, member="crowd.txt"), tmp_path / "data", patience=QUICK)
    assert everything(tmp_path) == []


def test_nobody_listening(tmp_path):
    file = RemoteFile("amt/small/crowd.txt", 5, SHA256, (Origin("http://127.0.0.1:9/crowd.txt"),))
    known = KnownSet("small", "amt", "", 2, 1, 1, (file,))
    with pytest.raises(FileError, match="failed"):
        fetch_known(known, tmp_path / "data", patience=QUICK)
    assert everything(tmp_path) == []


def test_only_web_addresses(tmp_path):
    file = RemoteFile("amt/small/crowd.txt", 5, SHA256, (Origin("file:///etc/hostname"),))
    with pytest.raises(FileError, match="not an http or https address"):
        fetch_known(KnownSet("small", "amt", "", 2, 1, 1, (file,)), tmp_path, patience=QUICK)


def test_a_folder_that_cannot_be_written(server, tmp_path):
    (tmp_path / "data").write_text("a file, not a folder")
    with pytest.raises(FileError, match="Choose a folder that can be written"):
        fetch_known(the_set(server, "whole"), tmp_path / "data", patience=QUICK)


def test_unknown_name():
    with pytest.raises(
        InputError, match="Data sets to fetch are: bluebird, rte, trec, dog, web, adult, mushroom, nursery"
    ):
        fetch_dataset("labelme")


def test_origins_are_public_and_pinned():
    for known in KNOWN.values():
        for file in known.files:
            assert file.path.startswith(f"{known.folder}/")
            assert len(file.sha256) == 64
            assert all(origin.url.startswith("https://") for origin in file.origins)
