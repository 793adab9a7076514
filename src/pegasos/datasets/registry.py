"""The sets by name: what they hold, where they come from, and what is known about their files.

The checksums were published by others who fetched the same files: Fashion-MNIST's by its authors;
those of a9a, w8a and ijcnn1 in public programs that download them. Where none was found there is
none here: see ``fetching.py`` for what is done instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
ZALANDO = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"


@dataclass(frozen=True)
class File:
    """A file of a set.

    Attributes
    ----------
    names : tuple of str
        What it is called in the folder of PEGASOS_DATA, plain or compressed.
    url : str or None
        Where it is fetched; None: nowhere that is known.
    checksum : str or None
        ``md5:…`` or ``sha256:…`` as published; None: not published.
    """

    names: tuple[str, ...]
    url: str | None = None
    checksum: str | None = None


@dataclass(frozen=True)
class DataSet:
    """What is known of a set.

    Attributes
    ----------
    name : str
        Its name, for ``fetch``.
    about : str
        What it is, in a sentence or two.
    rows : dict
        The number of rows in ``"train"`` and, if there is one, ``"test"``.
    features : int
        The number of features.
    classes : int
        The number of classes; 2: the targets are −1 and +1; 0: they are numbers to predict.
    source : str
        Where it comes from.
    read : str
        How its files are read: a function of ``reading.py``.
    files : dict
        The files of each split.
    fetcher : str or None
        The function of ``reading.py`` that has scikit-learn bring the set, and verify it.
    unobtainable : str or None
        Why it cannot be had.
    """

    name: str
    about: str
    rows: dict[str, int]
    features: int
    classes: int
    source: str
    read: str = "svmlight"
    files: dict[str, tuple[File, ...]] = field(default_factory=dict)
    fetcher: str | None = None
    unobtainable: str | None = None


def _libsvm(kind: str, path: str, checksum: str | None = None, *others: str) -> tuple[File, ...]:
    name = path.removesuffix(".bz2").removesuffix(".xz")
    return (File((name, *others), f"{LIBSVM}/{kind}/{path}", checksum),)


def _fashion(part: str, images: str, labels: str) -> tuple[File, ...]:
    names = f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"
    return tuple(
        File((f"fashion-{name}",), f"{ZALANDO}/{name}.gz", f"md5:{checksum}")
        for name, checksum in zip(names, (images, labels))
    )


_BOTH = (
    "The papers train on what its authors call the test part (781,265 rows) and test on their "
    "training part (23,149): so does this."
)
_ALL = (
    DataSet(
        "rcv1/ccat",
        "Reuters news, tf-idf, unit norm: topic CCAT (corporate, industrial) against the rest. "
        + _BOTH,
        {"train": 781_265, "test": 23_149},
        47_236,
        2,
        "scikit-learn's fetch_rcv1 (Lewis et al. 2004)",
        fetcher="rcv1",
    ),
    DataSet(
        "rcv1/c11",
        "Reuters news, tf-idf, unit norm: topic C11 (strategy, plans) against the rest. " + _BOTH,
        {"train": 781_265, "test": 23_149},
        47_236,
        2,
        "scikit-learn's fetch_rcv1 (Lewis et al. 2004)",
        fetcher="rcv1",
    ),
    DataSet(
        "astro-ph",
        "Abstracts of physics papers: astrophysics against the rest.",
        {"train": 29_882, "test": 32_487},
        99_757,
        2,
        "Joachims 2006, from the arXiv; Pegasos had it from him",
        files={"train": (File(("astro-ph",)),), "test": (File(("astro-ph.t",)),)},
        unobtainable="astro-ph was handed from author to author (Joachims 2006 made it from the "
        "abstracts of the arXiv) and was never put where it can be fetched",
    ),
    DataSet(
        "kddcup04-physics",
        "Collisions of particles, two kinds; the 8 columns with missing values are dropped.",
        {"train": 50_000},
        70,
        2,
        "KDD Cup 2004, the quantum physics task; its test rows have no labels",
        read="physics",
        files={
            "train": (
                File(
                    ("phy_train.dat", "data_kddcup04.tar"),
                    "https://www.kdd.org/cupfiles/KDDCupData/2004/data_kddcup04.tar.gz",
                ),
            )
        },
    ),
    DataSet(
        "covtype",
        "Forest cover, ten measures and 44 indicators, not scaled: class 1 (spruce and fir) "
        "against the rest, as in Pegasos.",
        {"train": 581_012},
        54,
        2,
        "scikit-learn's fetch_covtype (UCI)",
        read="cover_types",
        files={"train": (File(("covtype.npy",)),)},
        fetcher="cover_types_online",
    ),
    DataSet(
        "a9a",
        "Adult: does someone earn above 50,000 a year? One-hot.",
        {"train": 32_561, "test": 16_281},
        123,
        2,
        "LIBSVM's site (UCI, Platt 1998)",
        files={
            "train": _libsvm(
                "binary",
                "a9a",
                "sha256:f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
            ),
            "test": _libsvm(
                "binary",
                "a9a.t",
                "sha256:1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
            ),
        },
    ),
    DataSet(
        "w8a",
        "Web pages by their words: one category against the rest.",
        {"train": 49_749, "test": 14_951},
        300,
        2,
        "LIBSVM's site (Platt 1998)",
        files={
            "train": _libsvm("binary", "w8a", "md5:05cdbfad8de0af3887c0e6f42fddc32b"),
            "test": _libsvm("binary", "w8a.t", "md5:938543adbdc198246247d5d2015f01e8"),
        },
    ),
    DataSet(
        "ijcnn1",
        "The misfiring engine of the IJCNN 2001 challenge: 10 % positive.",
        {"train": 49_990, "test": 91_701},
        22,
        2,
        "LIBSVM's site (Prokhorov 2001)",
        files={
            "train": _libsvm("binary", "ijcnn1.bz2", "md5:c3e9162f8e38e0b6c0e02d313a59de2b"),
            "test": _libsvm("binary", "ijcnn1.t.bz2", "md5:66433ab8089acee9e56dc61ac89a2fe2"),
        },
    ),
    DataSet(
        "real-sim",
        "News groups by their words: real against simulated things.",
        {"train": 72_309},
        20_958,
        2,
        "LIBSVM's site (McCallum)",
        files={"train": _libsvm("binary", "real-sim.bz2")},
    ),
    DataSet(
        "news20",
        "Newsgroups in two classes, unit norm, very many features.",
        {"train": 19_996},
        1_355_191,
        2,
        "LIBSVM's site, news20.binary (Keerthi & DeCoste 2005)",
        files={"train": _libsvm("binary", "news20.binary.bz2")},
    ),
    DataSet(
        "webspam",
        "Spam on the web: how often each character occurs in a page.",
        {"train": 350_000},
        254,
        2,
        "LIBSVM's site (Webb et al. 2006; Wang et al. 2012)",
        files={"train": _libsvm("binary", "webspam_wc_normalized_unigram.svm.xz")},
    ),
    DataSet(
        "webspam-trigram",
        "Spam on the web: how often each three characters follow each other; very large.",
        {"train": 350_000},
        16_609_143,
        2,
        "LIBSVM's site (Webb et al. 2006; Wang et al. 2012)",
        files={"train": _libsvm("binary", "webspam_wc_normalized_trigram.svm.xz")},
    ),
    DataSet(
        "fashion-mnist",
        "Pictures of clothes, 28 × 28, grey in [0, 1]; ten classes, numbered from 0.",
        {"train": 60_000, "test": 10_000},
        784,
        10,
        "Zalando Research (Xiao, Rasul & Vollgraf 2017)",
        read="images",
        files={
            "train": _fashion(
                "train", "8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe"
            ),
            "test": _fashion(
                "t10k", "bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310"
            ),
        },
    ),
    DataSet(
        "20news",
        "Twenty newsgroups, twenty classes. In the folder of PEGASOS_DATA tf-idf of 38,673 words; "
        "scikit-learn brings counts of 130,107 words, to unit norm, numbered from 0.",
        {"train": 11_314, "test": 7_532},
        38_673,
        20,
        "scikit-learn's fetch_20newsgroups_vectorized",
        files={"train": (File(("20news",)),), "test": (File(("20news.t",)),)},
        fetcher="newsgroups",
    ),
    DataSet(
        "imdb",
        "Film reviews, tf-idf: liked or not.",
        {"train": 25_000, "test": 25_000},
        35_859,
        2,
        "Maas et al. 2011",
        files={"train": (File(("imdb",)),), "test": (File(("imdb.t",)),)},
    ),
    DataSet(
        "reuters2000",
        "The sample that came with the original Pegasos code: Reuters news, unit norm.",
        {"train": 2_000, "test": 600},
        9_947,
        2,
        "Shalev-Shwartz, Singer & Srebro 2007",
        files={"train": (File(("reuters2000",)),), "test": (File(("reuters600.t",)),)},
    ),
    DataSet(
        "money-fx",
        "Reuters-21578, unit norm: topic money-fx against the rest, 7 % positive.",
        {"train": 7_770, "test": 3_299},
        8_315,
        2,
        "Reuters-21578",
        files={"train": (File(("reuters_moneyfx",)),), "test": (File(("reuters_moneyfx.t",)),)},
    ),
    DataSet(
        "abalone",
        "The rings of a shell, from 8 measures of it, scaled.",
        {"train": 4_177},
        8,
        0,
        "LIBSVM's site, abalone_scale (UCI)",
        read="numbers",
        files={"train": _libsvm("regression", "abalone_scale", None, "abalone")},
    ),
    DataSet(
        "cpusmall",
        "How busy a computer is, from 12 measures of its work, not scaled.",
        {"train": 8_192},
        12,
        0,
        "LIBSVM's site (Delve)",
        read="numbers",
        files={"train": _libsvm("regression", "cpusmall", None, "cpusmall.csv")},
    ),
)

REGISTRY = {found.name: found for found in _ALL}
