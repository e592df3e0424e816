"""Live generation: a small model writes, and what it writes is read by the same parsers as everything else.

`base` holds the nouns, `local` and `server` are the two backends, `engine` shares one of them between all who ask,
`run` reads one output as it comes, `loop` closes the tool loop with the answers of `results` and the tools of `tools`,
`probe` measures how well a model keeps to a format. All of it yields events; the command line and the page only print
them.

torch, transformers and an HTTP client are imported when something is generated, not before.
"""
