import type { IncomingMessage, ServerResponse } from 'node:http';
import { providerLabels } from '../../lambda/domain/providers.ts';

/** Where things are. */
export interface StackIndex {
  /** `http://localhost:PORT`, without a slash at the end. */
  readonly url: string;
  readonly mailUrl: string;
  /** Address of the Stripe on this machine; undefined with the real one. */
  readonly stripeUrl: string | undefined;
  readonly dataDir: string;
  readonly logsDir: string;
  /** Read by a shell, it has the commands of docs/runbook.md work on this stack. */
  readonly commandsFile: string;
}

/** Addresses and folders of a running stack, for people. */
export const indexText = ({ url, mailUrl, stripeUrl, dataDir, logsDir, commandsFile }: StackIndex): string => {
  const host = url.replace('http://', '');
  return [
    `Gateway    http://{provider}.${host}/… or ${url}/gateway/{provider}/…`,
    `           ${providerLabels.slice(0, 6).join(', ')},`,
    `           ${providerLabels.slice(6).join(', ')}`,
    `Dashboard  ${url}`,
    `API        ${url}/api`,
    `Mail       ${mailUrl}`,
    `Stripe     ${stripeUrl ?? 'the real one, in test mode'}`,
    `Data       ${dataDir}`,
    `Logs       ${logsDir}`,
    `Commands   those of docs/runbook.md work on this stack after: . ${commandsFile}`,
  ].join('\n');
};

/** Serves the index at `/`, and the same page with 404 at every path that nothing else serves. */
export const serveIndex = (index: StackIndex) => (request: IncomingMessage, response: ServerResponse) => {
  const found = request.url === '/' || request.url?.startsWith('/?');
  response
    .writeHead(found ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8' })
    .end(`${found ? '' : 'There is nothing here.\n\n'}${indexText(index)}\n`);
};
