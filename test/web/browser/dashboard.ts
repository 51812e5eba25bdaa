import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SignOnProvider, startSignOnProvider } from '../../../fixtures/sign-on-provider.ts';
import { type LocalStack, startStack } from '../../../local/host/stack.ts';
import { startMockProviders } from '../../../local/mock/providers.ts';
import { currentAssembly } from '../../../local/synth.ts';
import { currentWebBuild } from '../../../web/current-build.ts';

const ROOT = join(import.meta.dirname, '../../..');
export interface Dashboard {
  readonly stack: LocalStack;
  readonly url: string;
  /** Where people with addresses of acme.example sign in, at the identity provider `Acme`. */
  readonly signOn: SignOnProvider;
  stop(): Promise<void>;
}

/**
 * The local stack with mock providers and the built pages, on a free port and fresh data.
 *
 * @param options.scheduleEveryMs interval of all schedules, such as the evaluation of rules; by default as on AWS
 */
export const startDashboard = async (options: { readonly scheduleEveryMs?: number } = {}): Promise<Dashboard> => {
  const assembly = await currentAssembly(ROOT, () => {});
  const webFolder = currentWebBuild();
  const dataDir = await mkdtemp(join(tmpdir(), 'dashboard-'));
  const mock = await startMockProviders();
  const signOn = await startSignOnProvider('Acme');
  const stack = await startStack({
    assembly,
    dataDir,
    port: 0,
    webFolder,
    mockProviders: true,
    ...options,
    environment: {
      ...mock.environment,
      SIGN_ON_ORIGIN: signOn.origin,
      WEBHOOK_TARGETS: JSON.stringify({ ports: [], internalHosts: ['localhost'] }),
      SIGN_ON_PROVIDERS: JSON.stringify({ Acme: { domains: ['acme.example'], verifiesAddresses: false } }),
    },
  });
  return {
    stack,
    url: stack.url,
    signOn,
    async stop() {
      await stack.stop();
      await signOn.stop();
      await mock.stop();
    },
  };
};
