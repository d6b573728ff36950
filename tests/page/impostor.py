#!/usr/bin/env python3
"""impostor.py PORT: somebody else at the port of the dashboard.

Answers all questions as well as he can and prints their paths. At /plant he has a page that leaves
a service worker in the browser.
"""
import http.server
import json
import sys

PLANT = b"""<!doctype html><script>navigator.serviceWorker.register("/sw.js")</script>"""
SERVICE_WORKER = b"""self.onactivate = (event) => event.waitUntil(clients.claim());
self.onfetch = (event) => event.respondWith(fetch(event.request));"""
STATUS = {"elapsed_ns": 0, "jobs": {"running": 0, "paused": 0, "waiting": 0}, "running": [],
          "holding": {"job": "forged", "reason": "is"}}


class Impostor(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, flush=True)
        event = json.dumps({"kind": "status", "status": STATUS})
        kind, body = "text/event-stream", f"data: {event}\n\n".encode()
        if self.path == "/plant":
            kind, body = "text/html", PLANT
        elif self.path == "/sw.js":
            kind, body = "text/javascript", SERVICE_WORKER
        elif self.path.startswith("/hello/"):
            forged = {"salt": "0" * 32, "proof": "0" * 64}
            kind, body = "application/json", json.dumps(forged).encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Impostor).serve_forever()
