"""How well do we know what a text is about? Accuracy, ranking and speed on labelled texts.

    python benchmarks/classify.py [--quick] [--json] [--eval ../shared/ddc/eval]

Two sets, used for measuring only: 854 balanced library records (title and abstract, the library's
own numbers) and 548 newsgroup posts (acceptable prefixes). For each method: the share of texts
whose first 1, 2 and 3 digits are right, and the mean one-vs-rest AUC of the topic score, over the
divisions of the library set and over the topics of the posts (posts whose accepted numbers overlap
with the topic's are neither right nor wrong there). scikit-learn's centroid and linear SVM are
trained on labelled records, by cross-validation on the library set; ours see none.

The judge is asked as a crawl asks it, cold: it knows a topic's numbers and their names and says how
likely a text is about it. Its best number is the topic it finds likeliest, so it need only choose
among the topics, and a division has no third digit. Its speed is that of a whole verdict on one
topic: the text read as a page, judged, and given its D-numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from treasure.ddc.galaxy import Galaxy, PlainGalaxy
from treasure.ddc.judge import Judge
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.numbers import pointed
from treasure.ddc.weighted import WeightedGalaxy
from treasure.extract import read_page
from treasure.text import VOCABULARY, words
from treasure.topics import Topic

LEAST_RECORDS = 5
"""Divisions with fewer records are not ranked for."""
SPEED_WORDS = 150


@dataclass(frozen=True)
class Texts:
    """Labelled texts and the topics to rank them for."""

    texts: list[str]
    labels: list[list[str]]
    """Acceptable numbers of each text, as digits."""
    topics: list[tuple[str, ...]]
    members: np.ndarray
    """Texts x topics: 1 belongs, 0 does not, -1 leave out."""


@dataclass(frozen=True)
class Answer:
    """What a method said: the best number of each text, and a score per text and topic."""

    best: list[str]
    scores: np.ndarray


@dataclass(frozen=True)
class Row:
    method: str
    library: tuple[float, float, float]
    library_auc: float
    posts: tuple[float, float, float]
    posts_auc: float
    texts_per_second: float | None


def read(path: Path) -> list[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def library_set(folder: Path) -> Texts:
    records = read(folder / "library.jsonl")
    labels = [[number.replace(".", "") for number in record["ddc"]] for record in records]
    divisions = Counter(d for numbers in labels for d in {number[:2] for number in numbers})
    topics = [(d,) for d, count in sorted(divisions.items()) if count >= LEAST_RECORDS]
    members = [[any(n.startswith(t) for n in numbers) for (t,) in topics] for numbers in labels]
    return Texts(
        [f"{r['title']}\n{r['abstract']}" for r in records], labels, topics, np.array(members, int)
    )


def posts_set(folder: Path) -> Texts:
    posts = read(folder / "newsgroups.jsonl")
    labels = [sorted(post["accept"]) for post in posts]
    topics = sorted({tuple(numbers) for numbers in labels})

    def membership(numbers: Sequence[str], topic: Sequence[str]) -> int:
        if tuple(numbers) == tuple(topic):
            return 1
        return -any(a.startswith(b) or b.startswith(a) for a in numbers for b in topic)

    members = [[membership(numbers, topic) for topic in topics] for numbers in labels]
    return Texts([f"{p['title']}\n{p['text']}" for p in posts], labels, topics, np.array(members))


def galaxy_answer(classify: Callable[[str], Galaxy], data: Texts) -> Answer:
    """Ask a galaxy: its first number, and the share of its weight under each topic."""
    galaxies = [classify(text) for text in data.texts]
    best = [g.numbers[0][0].replace(".", "").ljust(3, "0") if g else "" for g in galaxies]
    return Answer(best, np.array([[g.share(topic) for topic in data.topics] for g in galaxies]))


def topic_scores(scores: np.ndarray, classes: Sequence[str], data: Texts) -> np.ndarray:
    """Return the best class score under each topic."""
    columns = []
    for topic in data.topics:
        under = [i for i, name in enumerate(classes) if name.startswith(tuple(topic))]
        columns.append(scores[:, under].max(axis=1) if under else scores.min(axis=1))
    return np.array(columns).T


def judge_answer(lexicon: Lexicon, data: Texts) -> Answer:
    """Ask a judge of each topic how likely it is that a text is about it."""
    texts = [VOCABULARY.ids(words(text)) for text in data.texts]
    columns = []
    for topic in data.topics:
        names = ", ".join(dict.fromkeys(filter(None, map(lexicon.name, map(pointed, topic)))))
        judge = Judge([Topic(names, numbers=tuple(map(pointed, topic)))])
        columns.append([judge.text_relevance(terms) for terms in texts])
    scores = np.array(columns).T
    return Answer([data.topics[place][0] for place in scores.argmax(axis=1)], scores)


def verdicts(lexicon: Lexicon) -> Callable[[str], object]:
    """Return what gives a text a verdict on one topic, from the text as it comes."""
    topic = Topic(lexicon.name("520"), numbers=("52",))
    judge = Judge([topic], galaxy=WeightedGalaxy(lexicon))
    address = count()
    return lambda text: judge.verdict(read_page(f"http://text.test/{next(address)}", text))


class Trained:
    """A scikit-learn classifier over three-digit classes, trained on labelled records."""

    def __init__(self, kind: str, folds: int) -> None:
        self.kind = kind
        self.folds = folds

    def fit(self, texts: Sequence[str], labels: Sequence[Sequence[str]]) -> None:
        self.vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2)
        vectors = self.vectorizer.fit_transform(texts)
        classes = np.array([numbers[0][:3].ljust(3, "0") for numbers in labels])
        if self.kind == "centroid":
            self.classes = np.unique(classes)
            sums = np.array([vectors[classes == name].sum(axis=0).A1 for name in self.classes])
            weights, self.bias = normalize(sums), np.zeros(len(sums))
        else:
            with warnings.catch_warnings():  # few records a class: that is the point
                warnings.simplefilter("ignore")
                model = LinearSVC().fit(vectors, classes)
            self.classes, weights, self.bias = model.classes_, model.coef_, model.intercept_
        self.columns = np.ascontiguousarray(weights.T)

    def scores(self, texts: Sequence[str]) -> np.ndarray:
        return np.asarray(self.vectorizer.transform(texts) @ self.columns) + self.bias

    def answer(self, texts: Sequence[str], data: Texts) -> Answer:
        scores = self.scores(texts)
        best = [str(self.classes[place]) for place in scores.argmax(axis=1)]
        return Answer(best, topic_scores(scores, self.classes, data))

    def crossed(self, data: Texts) -> Answer:
        """Answer for each record by a model that was trained without it."""
        best = [""] * len(data.texts)
        scores = np.zeros((len(data.texts), len(data.topics)))
        for train, test in KFold(self.folds, shuffle=True, random_state=0).split(data.texts):
            self.fit([data.texts[i] for i in train], [data.labels[i] for i in train])
            answer = self.answer([data.texts[i] for i in test], data)
            scores[test] = answer.scores
            for place, number in zip(test, answer.best, strict=True):
                best[place] = number
        return Answer(best, scores)


def accuracy(best: Sequence[str], labels: Sequence[Sequence[str]]) -> tuple[float, float, float]:
    """Return the share of texts whose first 1, 2 and 3 digits are acceptable."""

    def right(number: str, accepted: Sequence[str], depth: int) -> bool:
        return bool(number) and any(number[:depth].startswith(a[:depth]) for a in accepted)

    shares = [
        float(np.mean([right(b, a, depth) for b, a in zip(best, labels, strict=True)]))
        for depth in (1, 2, 3)
    ]
    return round(shares[0], 3), round(shares[1], 3), round(shares[2], 3)


def area(data: Texts, scores: np.ndarray) -> float:
    """Return the mean one-vs-rest AUC over the topics."""
    areas = []
    for topic in range(len(data.topics)):
        kept = data.members[:, topic] >= 0
        areas.append(roc_auc_score(data.members[kept, topic], scores[kept, topic]))
    return round(float(np.mean(areas)), 3)


def speed(run: Callable[[str], object], texts: Sequence[str]) -> float:
    """Return texts per second of CPU, texts cut to ``SPEED_WORDS`` words."""
    short = [" ".join(text.split()[:SPEED_WORDS]) for text in texts]
    full = [text for text in short if len(text.split()) == SPEED_WORDS][:300]
    for text in full[:20]:
        run(text)
    best = 0.0
    for _ in range(3):
        start = time.process_time()
        for text in full:
            run(text)
        best = max(best, len(full) / (time.process_time() - start))
    return best


def rows(library: Texts, posts: Texts, quick: bool) -> list[Row]:
    lexicon = Lexicon.load()
    table = []
    for name, galaxies in (
        ("plain galaxy (papers)", PlainGalaxy(lexicon)),
        ("weighted galaxy", WeightedGalaxy(lexicon)),
    ):
        answers = [galaxy_answer(galaxies.classify_text, data) for data in (library, posts)]
        rate = round(speed(galaxies.classify_text, library.texts))
        table.append(row(name, library, posts, *answers, rate))
    judged = [judge_answer(lexicon, data) for data in (library, posts)]
    rate = round(speed(verdicts(lexicon), library.texts))
    table.append(row("judge, cold", library, posts, *judged, rate))
    for kind in ("centroid", "linear SVM"):
        trained = Trained(kind, 2 if quick else 5)
        crossed = trained.crossed(library)
        trained.fit(library.texts, library.labels)
        rate = round(speed(lambda text, t=trained: t.scores([text]), library.texts))
        name = f"scikit-learn {kind}, trained"
        table.append(row(name, library, posts, crossed, trained.answer(posts.texts, posts), rate))
    return table


def row(name: str, library: Texts, posts: Texts, first: Answer, second: Answer, rate: float) -> Row:
    return Row(
        name,
        accuracy(first.best, library.labels),
        area(library, first.scores),
        accuracy(second.best, posts.labels),
        area(posts, second.scores),
        rate,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two folds instead of five")
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    shared = Path(os.environ.get("TREASURE_SHARED", Path(__file__).parents[2] / "shared"))
    parser.add_argument("--eval", type=Path, default=shared / "ddc" / "eval", help="labelled sets")
    args = parser.parse_args()
    if not (args.eval / "library.jsonl").exists():
        print(f"There are no labelled texts in {args.eval}; give their folder with --eval.")
        return 2
    library, posts = library_set(args.eval), posts_set(args.eval)
    table = rows(library, posts, args.quick)
    yardstick = next(r for r in table if "centroid" in r.method).texts_per_second
    if args.json:
        answer = [
            {**asdict(r), "speed_ratio_to_centroid": round(r.texts_per_second / yardstick, 2)}
            for r in table
        ]
        print(json.dumps(answer, indent=2))
        return 0
    print(f"{'':32}  library 1/2/3 digits   AUC    posts 1/2/3 digits     AUC   texts/s   ratio")
    for r in table:
        first = " ".join(f"{share:.3f}" for share in r.library)
        second = " ".join(f"{share:.3f}" for share in r.posts)
        rate = f"{r.texts_per_second:7,.0f}   {r.texts_per_second / yardstick:5.2f}"
        print(
            f"{r.method:32}  {first}    {r.library_auc:.3f}  {second}    {r.posts_auc:.3f}  {rate}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
