import { providerLabels } from '../../domain/providers.ts';
import type { GatewayRequest } from '../protocol/client.ts';
import type { GatewayErrorCode } from '../protocol/gateway-error.ts';
import { headerValue } from '../protocol/headers.ts';

const credentialHint = ({ target, headers }: GatewayRequest): string | undefined => {
  if (headerValue(headers, 'api-key') !== undefined)
    return "The header api-key is Azure's: send the provider's key as Authorization: Bearer <API key>.";
  if (/[?&]key=/.test(target)) return 'Move the key from ?key= in the URL to the header x-goog-api-key.';
  return undefined;
};

const serviceKeyHint = ({ headers }: GatewayRequest, isHostKnown: boolean): string | undefined => {
  if (/^(Bearer\s+)?svc_[0-9a-z]+$/i.test(headerValue(headers, 'authorization')?.trim() ?? ''))
    return "Authorization has a service key alone: put the provider's own credential behind it, svc_…:<API key>.";
  if (!isHostKnown) return `No provider belongs to this host, either. The labels are ${providerLabels.join(', ')}.`;
  return undefined;
};

/** Advice to the client of a refused request. Never contains anything of the request. */
export const refusalHint = (
  code: GatewayErrorCode,
  request: GatewayRequest,
  isHostKnown: boolean,
): string | undefined => {
  if (code === 'MISSING_AUTH') return credentialHint(request);
  if (code === 'MISSING_SERVICE_KEY') return serviceKeyHint(request, isHostKnown);
  return undefined;
};
