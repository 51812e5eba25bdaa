import * as z from 'zod/mini';
import { providerLabels } from '../../domain/providers.ts';
import { billedProviders } from '../../domain/reconciliation/bill.ts';
import { buckets } from '../../domain/reconciliation/reconcile.ts';
import { forMachines, inGroup, ok } from '../../http/operation.ts';
import { day, described, unreadable } from '../../http/parameters.ts';

const operation = inGroup('Reconciliation');
const provider = described(z.enum(providerLabels), 'Gateway label of the provider.');
const amount = {
  amountNanoUsd: described(z.int(), 'Billed less recorded, in 1e-9 USD.'),
  amountUsd: z.string(),
};

export const importBill = operation('importBill', 'PUT /bills/{provider}', {
  audits: ['bill.imported'],
  summary: 'Import lines of an invoice',
  description:
    'CSV (RFC 4180) with a header. Columns: `day` (2026-11-20, UTC), `amount` (USD, at most 9 decimals, below 0 for a credit), and where the invoice has them `item` and `model` (the provider’s name of the model). A column `currency` must say USD. Every day that the lines name is replaced as a whole, so the same file may be imported again, and a corrected one replaces what was wrong. Import long invoices in parts of whole days.',
  permission: 'bills:write',
  params: z.object({ provider }),
  body: z.strictObject({
    csv: z.string().check(z.meta({ examples: ['day,amount,model\n2026-11-20,12.34,gpt-4o\n'] })),
  }),
  success: ok('What is stored now.', { days: z.array(day), lines: z.int() }),
});

const billedProvider = z.enum(billedProviders);
const connection = z.object({
  provider: billedProvider,
  connectedAt: z.iso.datetime(),
  connectedBy: z.string(),
  readAt: described(z.nullable(z.iso.datetime()), 'When the bill was last read. Null before the first time.'),
  problem: described(z.nullable(z.string()), 'Why it could not be read the last time.'),
});

export const listBillConnections = operation('listBillConnections', 'GET /bill-connections', {
  summary: 'List the providers whose bill is read',
  permission: 'spend:read-all',
  success: ok('One for each provider.', { items: z.array(connection), unreadable }),
});

export const connectBill = operation('connectBill', 'PUT /bill-connections/{provider}', {
  audits: ['bill.connected'],
  summary: 'Connect the bill of a provider',
  description:
    'The credential is tried, and then kept in Secrets Manager, where only the function that reads bills reads it. It is never shown again. Give a credential that can read costs and nothing else. The last 92 days are read within minutes, then every six hours what is new or was corrected.',
  permission: 'bills:write',
  rateLimits: { perAccount: { requests: 10, minutes: 60 } },
  params: z.object({ provider: billedProvider }),
  body: z.strictObject({
    credential: described(
      z.string().check(z.regex(/^[\x21-\x7e]{8,500}$/, 'must be 8 to 500 visible ASCII characters')),
      'OpenAI and Anthropic: an admin key. OpenRouter: a management key.',
    ),
  }),
  success: ok('The connection.', connection),
  errors: ['CONFLICT'],
});

export const disconnectBill = operation('disconnectBill', 'DELETE /bill-connections/{provider}', {
  audits: ['bill.disconnected'],
  summary: 'Disconnect the bill of a provider',
  description: 'Deletes the credential. What was read stays.',
  permission: 'bills:write',
  params: z.object({ provider: billedProvider }),
  success: { status: 204, description: 'It is not read any more.' },
});

export const readReconciliation = operation('readReconciliation', 'GET /reconciliation/{provider}', {
  summary: 'Compare what a provider billed with what is on record',
  description:
    'Days are UTC. Each part of the difference is in one bucket, and the buckets add up exactly to billed less recorded. Recorded is what the provider is paid: effective prices without markups. `notThroughGateway`: requests that no record has. `priceDiffers`: the recorded requests at another price, for one model. `discount`: a lower price for all models, or a credit. `timing`: requests around midnight that are on the bill of another day. `trackingGap`: requests that are known to be untracked. `unknownCost`: recorded requests that no price is known for. `notBilledYet`: the bill has nothing of the day. `unexplained`: recorded, but not billed.',
  permission: 'spend:read-all',
  params: z.object({ provider }),
  query: z.object({
    from: described(day, 'First day.'),
    to: described(day, 'Last day. At most 92 days.'),
  }),
  success: ok('The comparison.', {
    provider,
    from: day,
    to: day,
    billedDays: described(z.int(), 'Days that have a bill.'),
    readAt: described(z.nullable(z.iso.datetime()), 'When the bill was last read or imported.'),
    billedNanoUsd: described(z.nullable(z.int()), 'Null if no day has a bill.'),
    billedUsd: z.nullable(z.string()),
    recordedNanoUsd: z.int(),
    recordedUsd: z.string(),
    unpricedRequests: described(
      z.int(),
      'Requests on record whose cost is unknown. `recordedNanoUsd` does not include them.',
    ),
    throughGatewayShare: described(
      z.nullable(z.number()),
      'The share of the bill before credits that passed the gateway, 0 to 1. Null without one.',
    ),
    differences: described(z.array(z.object({ bucket: z.enum(buckets), ...amount })), 'Only those that are not 0.'),
    findings: described(
      z.array(
        z.object({
          bucket: z.enum(buckets),
          day,
          model: z.nullable(z.string()),
          item: described(z.nullable(z.string()), 'The item of the bill, for fees and credits.'),
          ...amount,
        }),
      ),
      'The largest 200 parts of the difference, largest first.',
    ),
  }),
});

export const machineReadReconciliation = forMachines(readReconciliation);
