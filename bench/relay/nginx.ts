import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Running, waitForPort } from './process.ts';

const base = (dir: string, servers: string): string => `
worker_processes 1; daemon off; error_log ${dir}/error.log; pid ${dir}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off; client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy; fastcgi_temp_path ${dir}/f; uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s;
  keepalive_requests 1000000; keepalive_timeout 300s; client_max_body_size 100m; client_body_buffer_size 64k;
  ${servers}
}`;

/** One nginx worker on one core, with the given servers. */
export const startNginx = async (dir: string, port: number, servers: string, core: number): Promise<Running> => {
  await mkdir(dir, { recursive: true });
  const config = join(dir, 'nginx.conf');
  await writeFile(config, base(dir, servers));
  const child = spawn('taskset', ['-c', String(core), 'nginx', '-c', config, '-e', join(dir, 'error.log')], {
    stdio: 'inherit',
  });
  await waitForPort(port);
  return {
    // The worker does the work; the master only waits.
    pid: async () =>
      Number(
        (await import('node:child_process'))
          .execFileSync('pgrep', ['-P', String(child.pid)])
          .toString()
          .split('\n')[0],
      ),
    stop: async () => {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
};

const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;

/** An origin that responds with 2 KB of JSON at once, and fakes the AWS services that the gateway calls. */
export const originServers = (port: number, streamPort: number, response: string, item: string): string => `
  map $http_x_amz_target $aws {
    default '{}';
    ~GetItem ${quoted(item)};
    ~GetSecretValue '{"SecretString":"bench"}';
  }
  upstream streams { server 127.0.0.1:${streamPort}; keepalive 600; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    default_type application/json;
    location = /aws { return 200 $aws; }
    location /v1/chat/completions { return 200 ${quoted(response)}; }
    location / { if ($http_x_amz_target) { return 200 $aws; } return 404; }
  }`;

/** The peer: a plain reverse proxy that buffers nothing. */
export const proxyServers = (port: number, originPort: number, streamPort: number): string => `
  upstream origin { server 127.0.0.1:${originPort}; keepalive 600; }
  upstream streams { server 127.0.0.1:${streamPort}; keepalive 600; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_request_buffering off;
    location /v1/stream { proxy_pass http://streams; }
    location / { proxy_pass http://origin; }
  }`;
