#!/usr/bin/env python3
"""A Copilot command line with scripted messages of protocol 3, right or wrong.

FAKE_PLAY names a file: {"hello": {...}?, "create": {...}?, "after": [step...]}. A step is an object with one key:
  event: sends a session.event;  ask: sends a request (its answer is recorded);  raw: writes bytes;
  wait: waits for this many requests (besides the opening ones) and answers;  exit: ends with a status.
Every received message is written as a line to the file FAKE_LOG.
"""
import json
import os
import sys
import threading

PLAY = json.load(open(os.environ["FAKE_PLAY"]))
LOG = open(os.environ["FAKE_LOG"], "a")
OPENING = {"connect", "tools.list", "session.create", "session.send", "session.destroy"}
SESSION = "11111111-2222"
came = threading.Condition()
count = 0
writing = threading.Lock()


def send(message):
    body = json.dumps(dict(message, jsonrpc="2.0")).encode()
    with writing:
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        sys.stdout.buffer.flush()


def perform():
    waited = 0
    for number, step in enumerate(PLAY.get("after", [])):
        if "event" in step:
            send({"method": "session.event", "params": {"sessionId": SESSION, "event": step["event"]}})
        elif "foreign" in step:
            send({"method": "session.event", "params": {"sessionId": "another", "event": step["foreign"]}})
        elif "ask" in step:
            send(dict(step["ask"], id="ask-%d" % number))
        elif "raw" in step:
            with writing:
                sys.stdout.buffer.write(step["raw"].encode())
                sys.stdout.buffer.flush()
        elif "wait" in step:
            waited += step["wait"]
            with came:
                came.wait_for(lambda: count >= waited)
        elif "exit" in step:
            sys.stderr.write("no such luck\n")
            sys.stderr.flush()
            os._exit(step["exit"])


def main():
    global count
    stream = sys.stdin.buffer
    while True:
        length = None
        while True:
            line = stream.readline()
            if not line:
                return
            if not line.strip():
                break
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message = json.loads(stream.read(length))
        LOG.write(json.dumps(message) + "\n")
        LOG.flush()
        method = message.get("method")
        if method == "connect":
            result = {"ok": True, "protocolVersion": 3, "version": "0.0.0"}
            result.update(PLAY.get("hello", {}))
            send({"id": message["id"], "result": result})
        elif method == "tools.list":
            send({"id": message["id"], "result": {"tools": [{"name": "bash"}, {"name": "view"}, {"name": "task"}]}})
        elif method == "session.create":
            if "refuse" in PLAY:
                send({"id": message["id"], "error": {"code": -32602, "message": PLAY["refuse"]}})
            else:
                send({"id": message["id"], "result": PLAY.get("create", {"sessionId": SESSION})})
        elif method == "session.send":
            send({"id": message["id"], "result": {"messageId": "m"}})
            threading.Thread(target=perform, daemon=True).start()
        elif method is not None:
            late = message.get("params", {}).get("requestId") == "late"
            send({"id": message["id"], "result": {"success": not late}})
            if method == "session.abort":
                send({"method": "session.event", "params": {"sessionId": SESSION, "event": {"type": "session.idle", "data": {}}}})
        if method not in OPENING:
            with came:
                count += 1
                came.notify_all()


main()
