"""Reduce a bill of materials to names, versions, licenses and dependencies, equal on every machine.

python docs/sbom.py MADE.json docs/sbom.json
"""

import json
import sys
from pathlib import Path
from typing import Any

#: What installs, and is not installed with the runtime.
_INSTALLERS = ("pip", "setuptools")


def cleaned(bill: dict[str, Any]) -> dict[str, Any]:
    """Leave out addresses, the tool that wrote the bill, and installers."""
    bill = _without_addresses(bill)
    bill.get("metadata", {}).pop("tools", None)
    bill["components"] = [part for part in bill["components"] if part["name"] not in _INSTALLERS]
    there = {part["bom-ref"] for part in bill["components"]}
    bill["dependencies"] = [
        {**entry, "dependsOn": [ref for ref in entry.get("dependsOn", []) if ref in there]}
        for entry in bill.get("dependencies", [])
        if entry["ref"] in there
    ]
    return bill


def _without_addresses(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_addresses(entry) for key, entry in value.items() if key != "externalReferences"}
    return [_without_addresses(entry) for entry in value] if isinstance(value, list) else value


if __name__ == "__main__":
    made, written = map(Path, sys.argv[1:])
    written.write_text(json.dumps(cleaned(json.loads(made.read_text())), indent=1, sort_keys=True) + "\n")
