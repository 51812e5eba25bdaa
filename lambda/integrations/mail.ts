import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod/mini';
import { SECOND_MS } from '../domain/calendar/units.ts';
import type { mailEnvironment } from '../environment.ts';
import type { OutgoingMail } from './mail-sender.ts';

/** SES did not accept the mail. The message contains only the kind of error. */
export class MailError extends Error {
  override readonly name = 'MailError';
  /** Who did not get it, where others did. */
  readonly unsent: readonly string[] | undefined;
  /** Some of them may get it later. */
  readonly isTemporary: boolean;

  constructor(
    message: string,
    facts: { readonly unsent?: readonly string[]; readonly isTemporary?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: facts.cause });
    this.unsent = facts.unsent;
    this.isTemporary = facts.isTemporary ?? false;
  }
}

/** @param noteSent notes who has the mail, while others still wait for it */
export type SendMail = (mail: OutgoingMail, noteSent?: (to: readonly string[]) => Promise<void>) => Promise<void>;

/** SES takes 14 mails a second at first. Where it takes no more, the rest is tried again a second later, and so on. */
const AT_ONCE = 10;
/** Attempts in a row that reach nobody. */
const MAX_PAUSES = 4;
/** The API responds within 29 seconds, and one mail may take 20. */
const MAX_MS = 8 * SECOND_MS;

/** SES refuses one recipient: the address is none, or is not verified while SES is in its sandbox. */
const OF_RECIPIENT: ReadonlySet<string> = new Set(['MessageRejected', 'InvalidParameterValue']);

/**
 * Sends mail through SES, whose client is loaded with the first mail. Each recipient gets a mail of their own: SES refuses a mail as a whole,
 * and a complaint names all of its recipients at the provider. Where some have it, it is tried again here for the others.
 *
 * @param options `maxMs`: no mail is begun later
 * @returns what throws MailError
 * @see https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html#event-publishing-retrieving-sns-contents-complained-recipients
 */
export const openMail = (
  { MAIL_FROM, MAIL_CONFIGURATION_SET }: z.infer<typeof mailEnvironment>,
  {
    maxMs = MAX_MS,
    pause = sleep,
  }: { readonly maxMs?: number; readonly pause?: (ms: number) => Promise<unknown> } = {},
): SendMail => {
  let sender: Promise<SendMail> | undefined;
  const send = async (mail: OutgoingMail): Promise<void> => {
    sender ??= import('#mail-sender').then(({ openMailSender }) =>
      openMailSender({ from: MAIL_FROM, configurationSet: MAIL_CONFIGURATION_SET }),
    );
    await (await sender)(mail);
  };
  return async ({ to, ...mail }, noteSent) => {
    const endsAtMs = Date.now() + maxMs;
    const refused: string[] = [];
    let waiting = to;
    let cause: unknown;
    for (let pauses = 0; waiting.length > 0; ) {
      const [some, others] = [waiting.slice(0, AT_ONCE), waiting.slice(AT_ONCE)];
      const late: string[] = [];
      const results = await Promise.allSettled(some.map((address) => send({ ...mail, to: [address] })));
      for (const [index, result] of results.entries()) {
        if (result.status === 'fulfilled') continue;
        cause = result.reason;
        (OF_RECIPIENT.has((cause as Error).name) ? refused : late).push(some[index] as string);
      }
      waiting = [...late, ...others];
      const sent = some.filter((address) => !late.includes(address) && !refused.includes(address));
      if (sent.length > 0 && waiting.length > 0) await noteSent?.(sent);
      if (Date.now() >= endsAtMs) break;
      if (late.length === 0) continue;
      if (late.length < some.length) pauses = 0;
      if (refused.length + waiting.length === to.length || pauses === MAX_PAUSES) break;
      pauses += 1;
      await pause(SECOND_MS * pauses);
    }
    const unsent = [...refused, ...waiting];
    if (unsent.length > 0)
      throw new MailError(`mail was not accepted (${cause instanceof Error ? cause.name : 'TimeoutError'})`, {
        cause,
        isTemporary: waiting.length > 0,
        ...(unsent.length < to.length && { unsent }),
      });
  };
};
