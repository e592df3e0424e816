"""Gradio is the same however it was imported, and nothing is parsed for it in vain."""

import subprocess
import sys

CODE = """
import ast, inspect
parsed = []
real, getfile = ast.get_source_segment, inspect.getfile
ast.get_source_segment = lambda *arguments: parsed.append(arguments) or real(*arguments)
from formats.web.quick_import import gr
print(len(parsed), inspect.getfile is getfile, inspect.getfile(gr.Textbox).endswith("textbox.py"))
"""


def test_no_interface_file_is_made():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "True", "True"]
