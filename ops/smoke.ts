import { z } from 'zod';
import { hostsByLabel } from '../lambda/domain/hosts.ts';
import { providerLabels } from '../lambda/domain/providers.ts';
import { readContext, settingsOf } from '../lib/config.ts';
import { CommandError, flag, gatewayUrl, runCommand } from './command.ts';
import { canarySchema, checkCanary, checkHosts, type SmokeTarget } from './smoke/checks.ts';

const USAGE = `npm run smoke -- --stage STAGE
npm run smoke -- --gateway-url URL --dashboard-url URL

Calls /health of all gateway hosts (of a stage, gateway.hosts too), and the dashboard API. Then, if the environment has
CANARY_SERVICE_KEY, CANARY_EMAIL and CANARY_PASSWORD of an account made for this, it sends a request of that account through the
gateway and waits until it is on record. Exits 1 if anything is wrong. --dry-run lists what would be called.

  --stage STAGE        hosts as cdk.json has them
  --gateway-url URL    with {label} for the provider, such as https://{label}.gateway.example.com
  --dashboard-url URL  such as https://dashboard.example.com/api`;

const schema = z
  .object({
    stage: z.string().optional(),
    'gateway-url': gatewayUrl.optional(),
    'dashboard-url': z.url().optional(),
    'dry-run': flag,
  })
  .refine(
    (options) => (options.stage === undefined) === Boolean(options['gateway-url'] && options['dashboard-url']),
    'Give --stage, or --gateway-url and --dashboard-url.',
  );

const targetOf = (options: z.output<typeof schema>): SmokeTarget => {
  const { stage = '', 'gateway-url': gatewayUrl, 'dashboard-url': dashboardUrl } = options;
  if (gatewayUrl && dashboardUrl)
    return { labels: providerLabels, gatewayUrl, dashboardUrl: dashboardUrl.replace(/\/$/, '') };
  const { gateway, gatewayDomain, dashboardDomain, customDomains } = settingsOf(stage, readContext().stages);
  if (!customDomains)
    throw new CommandError(
      `stages.${stage} has no domains: name --gateway-url and --dashboard-url, which are outputs (Url) of its stacks gateway and dashboard-api.`,
    );
  return {
    labels: [...hostsByLabel(gateway.hosts).keys()],
    gatewayUrl: (label) => `https://${label}.${gatewayDomain}`,
    dashboardUrl: `https://${dashboardDomain}/api`,
  };
};

await runCommand({ usage: USAGE, schema }, async (options) => {
  const target = targetOf(options);
  if (options['dry-run']) {
    for (const label of target.labels) console.log(`${target.gatewayUrl(label)}/health`);
    console.log(target.dashboardUrl);
    return;
  }
  const canary = canarySchema.safeParse(process.env);
  const results = [...(await checkHosts(target)), ...(canary.success ? await checkCanary(target, canary.data) : [])];
  for (const [name, problem] of results)
    console.log(problem === null ? `ok      ${name}` : `FAILED  ${name}: ${problem}`);
  if (!canary.success)
    console.log('skipped the canary account: CANARY_SERVICE_KEY, CANARY_EMAIL and CANARY_PASSWORD are not set');
  if (results.some(([, problem]) => problem !== null)) process.exitCode = 1;
});
