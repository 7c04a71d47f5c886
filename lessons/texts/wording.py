"""What the tutor itself says, in the learner's language.

The English text stands in the code where it is said, after its id, so that whoever reads the code reads the sentence,
and in English nothing is looked up. `lessons/authoring/interface_texts.py` collects the texts for translators.
"""

from __future__ import annotations

from functools import lru_cache

from attn_tutor.lessons.texts import translations


class Wording:
    """The texts of a module: `say = Wording("engine/feedback")`, then `say("too-large", "Too large.")`.

    Ids and texts are literals in the code. The ids of a module begin with `prefix`, whose first part is the group of
    texts that are translated in one file.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = f"{prefix}/"
        self._group = prefix.partition("/")[0]

    def __call__(self, name: str, english: str, /, **values: object) -> str:
        """Return a text in the learner's language, with values in its fields: `{count}`, `{seconds:g}`."""
        into = translations.current()
        if into.folder is not None:
            found = into.find(self._group, self._prefix + name, english)
            if found is not None and _fields(found) == _fields(english):
                english = found
        return english.format(**values)

    def count(self, name: str, count: int, one: str, several: str, /, **values: object) -> str:
        """Return a text that says how many things there are, in the form that the language has for this number.

        `one` is what it says in English of one thing, `several` of any other number; `{count}` is the number.
        """
        into = translations.current()
        english = one if count == 1 else several
        if into.folder is not None:
            found = into.find_form(self._group, self._prefix + name, one, count)
            # A form for one thing may leave the number out.
            if found is not None and _fields(found) | {COUNT} == _fields(several) | {COUNT}:
                english = found
        return english.format(count=count, **values)


def of_table(text_id: str, english: str) -> str:
    """Return a text from a table of texts, in the learner's language; it has no fields to be filled in here.

    Its id is made by the code that has the table, which also lists its texts for translators.
    """
    into = translations.current()
    if into.folder is None:
        return english
    found = into.find(text_id.partition("/")[0], text_id, english)
    return found if found is not None and _fields(found) == _fields(english) else english


COUNT = "count!None:"


@lru_cache(2048)
def _fields(text: str) -> frozenset[str]:
    """Return the fields of a text, each with its format; of a text that cannot be read, one that no text has."""
    from string import Formatter  # only other languages than English need it

    try:
        parts = list(Formatter().parse(text))
    except ValueError:
        return frozenset({"{"})
    return frozenset(f"{name}!{conversion}:{spec}" for _, name, spec, conversion in parts if name is not None)
