"""Help that teaches by example: the paragraphs below a command's options."""

from __future__ import annotations


def examples(*pairs: tuple[str, str]) -> str:
    """Commands to type, each with what it does."""
    lines = [line for typed, what in pairs for line in (_shown(typed, "cyan"), _shown(what, "dim"))]
    return paragraphs("[bold]Examples[/]", *lines)


def paragraphs(*lines: str) -> str:
    """Lines below each other, and room after them."""
    return "\n".join(lines) + "\n\n"


def _shown(text: str, style: str) -> str:
    """Indented: typer strips a paragraph, but not what stands inside a style."""
    indent = "  " if style == "cyan" else "      "
    return f"[{style}]{indent}{text.replace('[', chr(92) + '[')}[/]"
