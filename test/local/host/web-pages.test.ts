import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listen, urlOf } from '../../../fixtures/listen.ts';
import { webPages } from '../../../local/host/web-pages.ts';

const folder = tmpdir();
let server: Server;
let url: string;

beforeAll(async () => {
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), '<h1>Pages</h1>');
  await writeFile(join(folder, 'assets/a-1234.js'), 'export {};');
  await writeFile(join(folder, 'assets/inter.woff2'), 'wOF2');
  const settings = { apiUrl: '/api', gatewayUrl: 'http://localhost/gateway/{provider}', mockProviders: true };
  const pages = webPages({ folder, settings }, (_, response) => response.writeHead(404).end('passed on'));
  server = createServer(pages);
  await listen(server);
  url = urlOf(server);
});
afterAll(async () => {
  server.close();
});

/** What Safari accepts without TLS; other browsers accept more. */
const browser = { accept: 'text/html', 'accept-encoding': 'gzip, deflate' };
const ask = (path: string, headers: Record<string, string> = browser, method = 'GET') =>
  fetch(`${url}${path}`, { headers, method });

describe('the web pages of the local stack', () => {
  it.each(['/', '/requests?provider=openai', '/alerts/0199', '/sessions/run.1'])(
    '%s is the application, asked for anew each time',
    async (path) => {
      const response = await ask(path);
      expect(await response.text()).toBe('<h1>Pages</h1>');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    },
  );

  it('files with a hash in their name are kept for good; missing ones are not the application', async () => {
    const found = await ask('/assets/a-1234.js');
    expect(found.headers.get('cache-control')).toContain('immutable');
    expect(found.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const missing = await ask('/assets/b-5678.js');
    expect([missing.status, await missing.text()]).toEqual([404, 'passed on']);
  });

  it('a font is sent as it is to a browser that accepts no compressed one, as Firefox', async () => {
    const font = await ask('/assets/inter.woff2', {
      accept: 'font/woff2;q=1.0,*/*;q=0.8',
      'accept-encoding': 'identity',
    });
    expect(await font.text()).toBe('wOF2');
    expect(font.headers.get('content-encoding')).toBeNull();
  });

  it('the settings are one JSON file', async () => {
    expect(await (await ask('/config.json')).json()).toMatchObject({ apiUrl: '/api', mockProviders: true });
  });

  it('nothing leads out of the folder', async () => {
    for (const path of ['/../package.json', '/%2e%2e/package.json', '/assets/..%2f..%2fpackage.json']) {
      expect((await ask(path)).status).toBe(404);
    }
  });

  it('what is no browser, and what would change something, is passed on', async () => {
    expect((await ask('/', { accept: 'application/json' })).status).toBe(404);
    expect((await ask('/', browser, 'POST')).status).toBe(404);
  });
});
