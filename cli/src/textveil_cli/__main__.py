"""``python -m textveil_cli`` is the command ``textveil``."""

from textveil_cli.main import main

if __name__ == "__main__":
    main()
