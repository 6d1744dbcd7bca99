// An HTTP client that is nothing but a socket, for what fetch() will not send or does not show.
import net from 'node:net';

export class RawClient {
  // Resolves when connected.
  static async connect(url, options = {}) {
    const { hostname, port } = new URL(url);
    const client = new RawClient();
    client.received = Buffer.alloc(0);
    client.ended = false;
    client.socket = net.connect({ host: hostname, port: Number(port), ...options });
    client.socket.on('data', (bytes) => {
      client.received = Buffer.concat([client.received, bytes]);
      client.wake?.();
    });
    client.socket.on('error', () => {});
    client.socket.on('close', () => {
      client.ended = true;
      client.wake?.();
    });
    await new Promise((resolve, reject) => {
      client.socket.once('connect', resolve);
      client.socket.once('error', reject);
    });
    return client;
  }

  send(text) {
    this.socket.write(text);
  }

  // Resolves when something came, or the connection ended.
  async more() {
    if (this.ended) return;
    await new Promise((resolve) => (this.wake = resolve));
  }

  // The next response: {status, headers, body}; headers by lower-case name. null where the connection
  // ends before it is whole.
  async response({ head = false } = {}) {
    let end;
    while ((end = this.received.indexOf('\r\n\r\n')) < 0) {
      if (this.ended) return null;
      await this.more();
    }
    const lines = this.received.subarray(0, end).toString('latin1').split('\r\n');
    this.received = this.received.subarray(end + 4);
    const status = Number(lines[0].split(' ')[1]);
    const headers = Object.fromEntries(lines.slice(1).map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }));
    const hasBody = !head && status >= 200 && status !== 204 && status !== 304;
    let body = '';
    if (hasBody && headers['transfer-encoding'] === 'chunked') {
      for (let size; size !== 0;) {
        const line = await this.take(() => {
          const at = this.received.indexOf('\r\n');
          return at < 0 ? -1 : at + 2;
        });
        if (line === null) return null;
        size = parseInt(line.toString(), 16);
        const chunk = await this.take(() => size + 2);
        if (chunk === null) return null;
        body += chunk.subarray(0, size).toString();
      }
    } else if (hasBody) {
      const bytes = await this.take(() => Number(headers['content-length']));
      if (bytes === null) return null;
      body = bytes.toString();
    }
    return { status, headers, body };
  }

  // As many bytes as `size` says once it knows (until then it says -1).
  async take(size) {
    for (let wanted; ; await this.more()) {
      wanted = size();
      if (wanted >= 0 && this.received.length >= wanted) {
        const bytes = this.received.subarray(0, wanted);
        this.received = this.received.subarray(wanted);
        return bytes;
      }
      if (this.ended) return null;
    }
  }

  // Resolves when the server has closed the connection.
  async closed() {
    while (!this.ended) await this.more();
  }

  close() {
    this.socket.destroy();
  }
}
