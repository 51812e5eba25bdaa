import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  ASSET_CACHE_CONTROL,
  contentSecurityPolicy,
  FILE_PATH,
  PAGE_CACHE_CONTROL,
  PERMISSIONS_POLICY,
} from '../../web/security-headers.ts';

export interface WebPagesOptions {
  /** The built dashboard. */
  readonly folder: string;
  /** The members of config.json. */
  readonly settings: { readonly apiUrl: string; readonly gatewayUrl: string; readonly mockProviders: boolean };
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};

interface Page {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const page = (path: string, content: Buffer): Page => {
  const extension = extname(path);
  // Fonts are compressed already. In gzip: without TLS, Safari accepts no Brotli.
  const compressed = extension !== '.woff2';
  return {
    body: compressed ? gzipSync(content, { level: 9 }) : content,
    headers: {
      'content-type': contentTypes[extension] ?? 'application/octet-stream',
      ...(compressed ? { 'content-encoding': 'gzip' } : {}),
      'cache-control': path.startsWith('/assets/') ? ASSET_CACHE_CONTROL : PAGE_CACHE_CONTROL,
      'content-security-policy': contentSecurityPolicy(),
      'permissions-policy': PERMISSIONS_POLICY,
      'referrer-policy': 'strict-origin-when-cross-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
  };
};

const wanted = (pages: ReadonlyMap<string, Page>, path: string): Page | undefined =>
  pages.get(path) ?? (FILE_PATH.test(path) ? undefined : pages.get('/index.html'));

/** Serves the web dashboard as CloudFront does. Requests that no browser sent, or for no file of it, are passed on. */
export const webPages = (
  { folder, settings }: WebPagesOptions,
  next: (request: IncomingMessage, response: ServerResponse) => void,
) => {
  const pages = new Map<string, Page>(
    readdirSync(folder, { recursive: true })
      .map(String)
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => [`/${name}`, page(`/${name}`, readFileSync(join(folder, name)))]),
  );
  pages.set('/config.json', page('/config.json', Buffer.from(JSON.stringify(settings))));
  return (request: IncomingMessage, response: ServerResponse) => {
    const path = (request.url ?? '/').replace(/[?#].*$/, '');
    // A terminal accepts any type, but nothing compressed; nor does Firefox where it asks for a font.
    const isBrowser =
      /text\/html|\*\/\*/.test(request.headers.accept ?? '') &&
      (/\bgzip\b/.test(String(request.headers['accept-encoding'])) || path.endsWith('.woff2'));
    const found = isBrowser ? wanted(pages, path) : undefined;
    if (!found || !['GET', 'HEAD'].includes(request.method ?? '')) {
      next(request, response);
      return;
    }
    response.writeHead(200, { ...found.headers, 'content-length': found.body.length });
    response.end(request.method === 'HEAD' ? undefined : found.body);
  };
};
