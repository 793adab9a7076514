"""The certificate as a small HTML table, below scikit-learn's own picture of an estimator."""

from __future__ import annotations

from html import escape
from typing import Any

_TABLE = (
    '<table class="pegasos-certificate" style="font-family: monospace; border-collapse: collapse">'
    '<caption style="text-align: left; font-weight: bold">{caption}</caption>'
    "<tbody>{rows}</tbody></table>"
)
_ROW = (
    '<tr><th style="text-align: left; padding-right: 1em">{name}</th>'
    '<td style="text-align: right">{value}</td></tr>'
)


def certificate_html(estimator: Any) -> str:
    """The certificate of a fitted estimator; nothing for one that is not fitted."""
    if not hasattr(estimator, "certificate_"):
        return ""
    proof = estimator.certificate_
    facts = {
        "primal": f"{proof.primal:.8g}",
        "dual": f"{proof.dual:.8g}",
        "relative gap": f"{proof.relative_gap:.2e}",
        "proved by": proof.how,
        "converged": "yes" if estimator.converged_ else "no",
    }
    if hasattr(estimator, "n_passes_"):
        facts["passes"] = f"{estimator.n_passes_:.1f}"
    count = len(estimator.certificates_)
    caption = "Certificate" if count == 1 else f"Certificate: the worst of {count} binary problems"
    rows = "".join(_ROW.format(name=escape(k), value=escape(v)) for k, v in facts.items())
    return _TABLE.format(caption=escape(caption), rows=rows)
