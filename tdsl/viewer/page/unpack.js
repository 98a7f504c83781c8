// Packs: base64 of a compressed stream with the length of a header, the header as JSON, and columns of whole numbers. See packed.py.

async function unpack(element) {
  const bytes = fromBase64(element.textContent.trim());
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const all = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = all[0] | (all[1] << 8) | (all[2] << 16) | (all[3] << 24);
  const header = JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + size)));
  const columns = {};
  let at = 4 + size;
  for (const c of header.columns) {
    columns[c.name] = column(all.subarray(at, at + c.n * c.width), c);
    at += c.n * c.width;
  }
  return { header, columns };
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

// The values of a column are sums of differences, whose bytes lie plane by plane.
function column(bytes, { n, width, start, step }) {
  const out = new Int32Array(n);
  let sum = 0;
  if (width === 0) {
    for (let i = 0; i < n; i++) out[i] = start + i * step;
  } else if (width === 1) {
    for (let i = 0; i < n; i++) out[i] = sum = (sum + ((bytes[i] << 24) >> 24)) | 0;
  } else if (width === 2) {
    for (let i = 0; i < n; i++) out[i] = sum = (sum + (((bytes[i] | (bytes[n + i] << 8)) << 16) >> 16)) | 0;
  } else {
    const [p, q, r] = [n, 2 * n, 3 * n];
    for (let i = 0; i < n; i++) {
      out[i] = sum = (sum + (bytes[i] | (bytes[p + i] << 8) | (bytes[q + i] << 16) | (bytes[r + i] << 24))) | 0;
    }
  }
  return out;
}
