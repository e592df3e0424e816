"""Settings of every test: the gate draws the same examples each time, a developer's machine new ones."""

import os

from hypothesis import settings

settings.register_profile("gate", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("developer", deadline=None)
settings.load_profile("gate" if os.environ.get("CI") else "developer")
