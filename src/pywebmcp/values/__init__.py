"""Pure values: what arguments, schemas, results and page text mean. No I/O, no await.

- `pywebmcp.values.quoting`: page text as a bounded, visible, single-line literal;
- `pywebmcp.values.deepjson`: strict JSON of any depth;
- `pywebmcp.values.names`: the standard's rule for tool names;
- `pywebmcp.values.schemas`: reading input schemas and checking arguments against them;
- `pywebmcp.values.arguments`: the arguments of a call as JSON;
- `pywebmcp.values.content`: results in the shape of MCP;
- `pywebmcp.values.results`: what an engine hands over, as a value.

Importing this package imports none of them.
"""

from __future__ import annotations
