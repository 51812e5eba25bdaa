import { auditsOf, withRoom } from '../../data/accounts/audit-log.ts';
import { shownWebhookUrl } from '../../domain/alerts/channels.ts';
import { invalid, NotFoundError } from '../../domain/errors.ts';
import type { Destination } from '../../domain/exports/destination.ts';
import type { Implementations, Input } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import type * as operations from './destination-operations.ts';

/** Limits the work of one account in a minute. */
const MAX_DESTINATIONS = 5;

const view = ({ destinationId, accountId: _, secret: __, url, headers, cursor, ...destination }: Destination) => ({
  ...destination,
  id: destinationId,
  url: shownWebhookUrl(url),
  headers: Object.keys(headers),
  sentUntil: cursor,
});

/** Addresses may hold a credential, and headers do. */
const auditOfDestination = auditsOf(
  ({ destinationId }: Destination) => destinationId,
  ({ name, type, url, isActive }) => ({ name, type, host: new URL(url).host, isActive: String(isActive) }),
);

const requireUrl = async ({ webhookUrlProblem }: Settings, url: string): Promise<void> => {
  const message = await webhookUrlProblem(url);
  if (message !== undefined) throw invalid('url', message);
};

const find = async (
  { destinations }: Settings,
  { caller, params }: Pick<Input<typeof operations.deleteDestination>, 'caller' | 'params'>,
) => {
  const destination = await destinations.find(caller.accountId, params.id);
  if (destination === undefined) throw new NotFoundError('There is no such destination.');
  return destination;
};

export const manageDestinations = (settings: Settings): Implementations<typeof operations> => ({
  listDestinations: async ({ caller: { accountId } }) => {
    const { items, unreadable } = await settings.destinations.list(accountId);
    return {
      items: items.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1)).map(view),
      unreadable: unreadable.length || undefined,
    };
  },

  createDestination: async ({ caller, clientAddress, body }) => {
    const { destinations, now, newId, newSecret } = settings;
    const { accountId } = caller;
    await requireUrl(settings, body.url);
    const at = now();
    const destination: Destination = {
      ...body,
      destinationId: newId(),
      accountId,
      secret: newSecret(),
      isActive: true,
      createdAt: at.toISOString(),
      cursor: null,
      sentAt: null,
      failures: 0,
      problem: null,
    };
    const audit = auditOfDestination({ caller, clientAddress }, 'destination.created', destination, at);
    const list = async () => Object.values(await destinations.list(accountId)).flat();
    await destinations.create(destination, withRoom(audit, list, MAX_DESTINATIONS, 'destinations'));
    return { id: destination.destinationId, secret: destination.secret };
  },

  updateDestination: async (input) => {
    const { body } = input;
    const before = await find(settings, input);
    const { url, ...others } = body;
    // The form in which it is shown keeps it.
    const isNew = url !== undefined && url !== shownWebhookUrl(before.url);
    if (isNew) await requireUrl(settings, url);
    // Who changes the address must not get the credentials of the former one.
    const isElsewhere = isNew && new URL(url).origin !== new URL(before.url).origin;
    if (isElsewhere && !body.headers && Object.keys(before.headers).length > 0)
      throw invalid('headers', 'must be sent again for another host');
    const isStarted = body.isActive === true && !before.isActive;
    // Nor may the receiver at the former address sign what the new one takes for ours.
    const newSecret = isElsewhere && { secret: settings.newSecret() };
    const changes = {
      ...others,
      ...(isNew && { url }),
      ...newSecret,
      ...(isStarted && { failures: 0, problem: null }),
    };
    const after: Destination = { ...before, ...(changes as Partial<Destination>) };
    const at = settings.now();
    await settings.destinations.change(
      before,
      changes as Partial<Destination>,
      after.isActive ? at.toISOString() : null,
      auditOfDestination(input, 'destination.changed', after, at, before),
    );
    return { ...view(after), ...newSecret };
  },

  deleteDestination: async (input) => {
    const destination = await find(settings, input);
    const audit = auditOfDestination(input, 'destination.deleted', destination, settings.now());
    await settings.destinations.remove(input.caller.accountId, input.params.id, audit);
  },
});
