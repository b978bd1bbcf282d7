"""What do several runs say, side by side?"""

from assay.report.comparison.lines import comparison_lines
from assay.report.comparison.page import render_comparison, write_comparison
from assay.report.comparison.sides import Side, read_sides

__all__ = ["Side", "comparison_lines", "read_sides", "render_comparison", "write_comparison"]
