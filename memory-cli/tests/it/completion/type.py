"""Types keys in a shell at a terminal, and prints all that the terminal shows.

usage: type.py PROMPT KEYS END SHELL...

The keys are typed when the prompt is shown; the shell is ended when END is shown.
"""

import os
import pty
import select
import sys

prompt, keys, end, *shell = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(shell[0], shell)
shown, is_typed = "", False
while True:
    # A shell that shows nothing for a minute has none of the two.
    if not select.select([terminal], [], [], 60)[0]:
        break
    try:
        read = os.read(terminal, 65536)
    except OSError:
        break
    shown += read.decode(errors="replace")
    if not is_typed and prompt in shown:
        is_typed = True
        os.write(terminal, keys.encode())
    elif is_typed and end in shown:
        break
os.kill(child, 9)
sys.stdout.write(shown)
