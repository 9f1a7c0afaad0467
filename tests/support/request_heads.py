# SPDX-License-Identifier: Apache-2.0
"""What a server of a test reads from a connection.

    for head in request_heads(s):
        s.sendall(answer_to(head))
"""


def request_heads(s):
    """Yields the head of each request without a body, until the client closes."""
    unread = b""
    while True:
        while b"\r\n\r\n" not in unread:
            more = s.recv(65536)
            if not more:
                return
            unread += more
        head, unread = unread.split(b"\r\n\r\n", 1)
        yield head
