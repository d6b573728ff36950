// Whether whoever answers is the daemon that this page is from. At each start the daemon has another secret
// address, because anybody may listen at its port while it is not there. This page was given a key, which it
// tells nobody: by that it knows the daemon, and what its address is now (docs/dashboard.md, "Who may look").

export type Found =
  | "daemon" // relative addresses lead to it again
  | "nobody"
  | "stranger"; // or the daemon with a new key, which can't be told apart

const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
// As src/daemon/dashboard/secrets.h has them.
const nonceBytes = 16, tokenDigits = 32;

export class Identity {
  private key: CryptoKey | null = null;

  // From the daemon that has just been heard. Without WebCrypto, which browsers have at 127.0.0.1 and for
  // HTTPS, and without a key the page goes on at the address that it has.
  async learn(): Promise<void> {
    if (this.key || !globalThis.crypto?.subtle) return;
    const answer = await fetch("key");
    if (!answer.ok) return;
    const digits = new TextEncoder().encode((await answer.text()).trim());
    this.key = await crypto.subtle.importKey("raw", digits, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  }

  async find(patience: number): Promise<Found> {
    if (!this.key) return "daemon";
    // The daemon has none: it would be of somebody who was here meanwhile, and hear the address.
    if (navigator.serviceWorker?.controller) return "stranger";
    const nonce = hex(crypto.getRandomValues(new Uint8Array(nonceBytes)));
    let salt: unknown, proof: unknown;
    try {
      const answer = await fetch(`/hello/${nonce}`, { signal: AbortSignal.timeout(patience) });
      ({ salt, proof } = (await answer.json()) as { salt: unknown; proof: unknown });
    } catch (error) {
      return error instanceof SyntaxError ? "stranger" : "nobody";
    }
    if (typeof salt !== "string" || proof !== (await this.code(`hello ${nonce} ${salt}`))) return "stranger";
    const token = (await this.code(`address ${salt}`)).slice(0, tokenDigits);
    history.replaceState(null, "", `/${token}/`);
    return "daemon";
  }

  private async code(text: string): Promise<string> {
    return hex(new Uint8Array(await crypto.subtle.sign("HMAC", this.key!, new TextEncoder().encode(text))));
  }
}
