"""KNOWN: the paper's data sets by name; what they are, and where their files are on the internet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Origin:
    """A public address of a file, or of a zip archive that holds it as `member`."""

    url: str
    member: str | None = None


@dataclass(frozen=True)
class RemoteFile:
    """A file of a data set: its place in a data folder, its exact size and checksum, and where to get it."""

    path: str
    size: int
    sha256: str
    origins: tuple[Origin, ...]


@dataclass(frozen=True)
class KnownSet:
    """A data set of the paper. Sizes are those of the paper's protocol."""

    name: str
    kind: Literal["amt", "uci"]
    about: str
    n_classes: int
    n_items: int
    n_annotators: int
    files: tuple[RemoteFile, ...]

    @property
    def folder(self) -> str:
        """Its folder inside a data folder."""
        return f"{self.kind}/{self.name}"


_AMT = "https://raw.githubusercontent.com/zhangyuc/SpectralMethodsMeetEM/6204f5fcab1766cb1b2c40fc1bff53b1613ddc6c/src"
_UCI = "https://archive.ics.uci.edu"


def _amt(name: str, about: str, sizes: tuple[int, int, int], *files: tuple[int, str]) -> KnownSet:
    remote = tuple(
        RemoteFile(f"amt/{name}/{what}.txt", size, sha256, (Origin(f"{_AMT}/{name}_{what}.txt"),))
        for what, (size, sha256) in zip(("crowd", "truth"), files, strict=True)
    )
    return KnownSet(name, "amt", about, *sizes, remote)


def _uci(name: str, number: int, about: str, sizes: tuple[int, int, int], *files: tuple[str, int, str]) -> KnownSet:
    remote = tuple(
        RemoteFile(
            f"uci/{name}/{file}",
            size,
            sha256,
            (
                Origin(f"{_UCI}/ml/machine-learning-databases/{name}/{file}"),
                Origin(f"{_UCI}/static/public/{number}/{name}.zip", member=file),
            ),
        )
        for file, size, sha256 in files
    )
    return KnownSet(name, "uci", about, *sizes, remote)


_SETS = (
    _amt(
        "bluebird",
        "Which of two kinds of bunting is in the picture? (Welinder et al. 2010)",
        (2, 108, 30),
        (36934, "a63231e23dc02d0873d76669684812f9bad53a73f0580f43f4295175987f347e"),
        (646, "690660bf75f24d052bec3bb55bb8dc5f7ebdadbaf36de5db9a031221f2db2ce3"),
    ),
    _amt(
        "rte",
        "Does one sentence follow from another? (Snow et al. 2008)",
        (2, 800, 164),
        (69560, "a51b7a607587accf7800895a8f0c005eaac28a23fbac6524432666960c5673e2"),
        (4692, "0782ff14373c7fe3b2c652d0cc6b768512ed9edc718e2dcf790426c3045430a1"),
    ),
    _amt(
        "trec",
        "Is the document relevant to the query? (Lease and Kazai 2011)",
        (2, 19033, 762),
        (959028, "821141b1e95b1ff516ebccf6869f2ac88ca93035d6991b8039d76275866de402"),
        (16833, "405b4ff78e79b912252f19ff68116e71abe3a21c2051c7c701e7a16acbeae3e4"),
    ),
    _amt(
        "dog",
        "Which of four breeds is the dog? (Deng et al. 2009)",
        (4, 807, 52),
        (70284, "1b5c88e0e6c08b8bcfb27be2c43093af06a0d649edc6a65ad719d5204b894b24"),
        (47340, "e1378e027b6e51b664b0c75a61e638d71bbede890cd4af2a2c4dae3718596d24"),
    ),
    _amt(
        "web",
        "How well does the page answer the query, on five levels? (Zhou et al. 2014)",
        (5, 2665, 177),
        (160023, "5b1ad44cebdcf59d42c83393a7dc3f4aa46746f5428c4caac275350247da6d6f"),
        (20124, "7ff13173d6ad447e6959fa5226bcbef756ebe34d712eae908de30036824fc94f"),
    ),
    _uci(
        "adult",
        2,
        "Does a person earn more than 50,000 dollars? Labelled by ten classifiers.",
        (2, 7017, 10),
        ("adult.data", 3974305, "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
        ("adult.test", 2003153, "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
    ),
    _uci(
        "mushroom",
        73,
        "Is the mushroom edible? Labelled by ten classifiers.",
        (2, 6358, 10),
        ("agaricus-lepiota.data", 373704, "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e"),
    ),
    _uci(
        "nursery",
        76,
        "How strongly is an application to a nursery school recommended? Labelled by ten classifiers.",
        (4, 3575, 10),
        ("nursery.data", 1059371, "8e0389c3dd37590248a921c2726d869ee96b817761a35eb8416afa24f31f931d"),
    ),
)

KNOWN: dict[str, KnownSet] = {known.name: known for known in _SETS}
"""The paper's data sets by name."""
