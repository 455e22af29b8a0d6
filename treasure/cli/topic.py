"""``treasure topic``: shows what a topic is understood as."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treasure.ddc.topic_names import Candidate, TopicNames
    from treasure.topics import Topic


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("topic", help="number, name, several with commas, or a topic file (.toml)")
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    parser.add_argument("--lexicon", metavar="FILE", help="packed lexicon instead of our own")


def run(args: argparse.Namespace) -> int:
    """Show each topic with its numbers, alternatives and neighbours."""
    from treasure.ddc.lexicon import Lexicon
    from treasure.ddc.topic_names import TopicNames
    from treasure.topic_reader import read_topics

    lexicon = Lexicon.load(args.lexicon)
    names = TopicNames(lexicon)
    answers = [_answer(topic, names) for topic in read_topics(args.topic, lexicon)]
    if args.json:
        print(json.dumps(answers, ensure_ascii=False, indent=2))
        return 0
    for count, answer in enumerate(answers):
        if count:
            print()
        _show(answer)
    return 0


def _answer(topic: Topic, names: TopicNames) -> dict[str, Any]:
    from treasure.ddc.numbers import written

    alternatives = [c for c in names.candidates(topic.name) if c.number not in topic.numbers]
    return {
        "name": topic.name,
        "description": topic.description,
        "numbers": [
            {"number": written(number), "name": names.lexicon.name(number)}
            for number in topic.numbers
        ],
        "keywords": list(topic.keywords),
        "examples": list(topic.examples),
        "negatives": list(topic.negatives),
        "languages": list(topic.languages),
        "notes": list(topic.notes),
        "alternatives": [_plain(candidate) for candidate in alternatives],
        "neighbours": [
            _plain(candidate) for number in topic.numbers for candidate in names.neighbours(number)
        ],
    }


def _plain(candidate: Candidate) -> dict[str, Any]:
    from treasure.ddc.numbers import written

    return {
        "number": written(candidate.number),
        "name": candidate.name,
        "fit": candidate.fit,
        "why": candidate.why,
    }


def _show(answer: dict[str, Any]) -> None:
    print(answer["name"])
    for number in answer["numbers"]:
        print(f"  {number['number']:>9}  {number['name']}, with all below it")
    for field in ("description", "keywords", "examples", "negatives", "languages"):
        if answer[field]:
            value = answer[field]
            print(f"  {field}: {value if isinstance(value, str) else ', '.join(value)}")
    for note in answer["notes"]:
        print(f"  note: {note}")
    for title, why in (("could also mean", None), ("below it", "below"), ("beside it", "beside")):
        rows = (
            answer["alternatives"]
            if why is None
            else [row for row in answer["neighbours"] if row["why"] == why]
        )
        if rows:
            print(f"  {title}:")
            for row in rows:
                reason = f" ({row['why']})" if why is None else ""
                print(f"  {row['number']:>9}  {row['name']}{reason}")
