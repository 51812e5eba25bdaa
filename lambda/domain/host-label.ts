import * as z from 'zod/mini';
import { cloudLabels, OWN_NAME } from './hosts.ts';
import { providerLabels } from './providers.ts';

const known = [...providerLabels, ...cloudLabels] as const;

export const hostLabels = `one of ${known.join(', ')}, or the label of an own host, own-…`;

/** Label of a gateway host, for schemas: a provider, a cloud, or an own server's. */
export const hostLabel = z
  .union([z.enum(known), z.templateLiteral(['own-', z.string().check(z.regex(OWN_NAME))])], {
    error: `must be ${hostLabels}`,
  })
  .register(z.globalRegistry, { id: 'HostLabel' });
