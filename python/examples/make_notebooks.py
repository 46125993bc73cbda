"""Writes a notebook without outputs beside every example: run it after changing one."""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def notebook(script: str) -> str:
    """Cells begin at lines `# %%`; those marked [markdown] are comments."""
    cells = []
    for index, part in enumerate(("\n" + script).split("\n# %%")[1:]):
        header, _, body = part.partition("\n")
        lines = body.strip("\n").split("\n")
        cell: dict[str, Any] = {"id": f"cell-{index}", "metadata": {}}
        if "[markdown]" in header:
            lines = [line[2:] if line.startswith("# ") else line.lstrip("#") for line in lines]
            cell["cell_type"] = "markdown"
        else:
            cell.update(cell_type="code", execution_count=None, outputs=[])
        cell["source"] = [line + "\n" for line in lines[:-1]] + lines[-1:]
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, sort_keys=True) + "\n"


def scripts() -> list[Path]:
    return sorted(path for path in HERE.glob("*.py") if path.name != "make_notebooks.py")


if __name__ == "__main__":
    for path in scripts():
        path.with_suffix(".ipynb").write_text(notebook(path.read_text()))
