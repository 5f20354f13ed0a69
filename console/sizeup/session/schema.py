"""The JSON Schema of the session format, made from the records and so never stale."""

from __future__ import annotations

import msgspec

from sizeup.session.records import FORMAT, AnyRecord


def schema_text() -> str:
    """The schema of one line of a session file."""
    schema = msgspec.json.schema(AnyRecord)
    heading = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"sizeup session, format {FORMAT}: one line of a *.sizeup.jsonl file",
    }
    return msgspec.json.format(msgspec.json.encode(heading | schema), indent=2).decode() + "\n"
