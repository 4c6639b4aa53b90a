"""Prints the text of one file as it is found: transcribe.py FILE [MODEL]"""
import sys

import sotto


def main() -> int:
    if len(sys.argv) < 2:
        print("usage: transcribe.py FILE [MODEL]", file=sys.stderr)
        return 2
    try:
        with sotto.Model(*sys.argv[2:3]) as model:
            print(model.device, file=sys.stderr)
            segments, info = model.transcribe(sys.argv[1])
            for segment in segments:
                print(f"[{segment.start:6.2f} - {segment.end:6.2f}]{segment.text}")
            print(f"{info.duration:.1f} s of {info.language}", file=sys.stderr)
        return 0
    except sotto.Error as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
