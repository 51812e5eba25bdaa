import type { Logger } from '@aws-lambda-powertools/logger';
import * as z from 'zod/mini';
import type { MailBlock, Users } from '../data/accounts/users.ts';
import { DAY_MS } from '../domain/calendar/units.ts';

const addresses = z.array(z.object({ emailAddress: z.string() }));

/** SES's report of a mail. @see https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html */
const feedbackSchema = z.object({
  eventType: z.string(),
  mail: z.object({ tags: z.optional(z.record(z.string(), z.array(z.string()))) }),
  bounce: z.optional(z.object({ bounceType: z.string(), bouncedRecipients: addresses })),
  complaint: z.optional(z.object({ complainedRecipients: addresses, complaintFeedbackType: z.nullish(z.string()) })),
});

/** A mailbox that was full or gone may be there again; who complained wants no more mail. */
const BOUNCE_DAYS = 30;
const COMPLAINT_DAYS = 365;

interface Feedback {
  readonly reason: MailBlock['reason'];
  readonly addresses: readonly string[];
}

/** Undefined for what says nothing about an address, such as a mailbox that is full for the moment. */
const feedbackOf = ({ bounce, complaint }: z.infer<typeof feedbackSchema>): Feedback | undefined => {
  const of = (found: z.infer<typeof addresses>) => found.map(({ emailAddress }) => emailAddress.toLowerCase());
  if (bounce?.bounceType === 'Permanent') return { reason: 'bounce', addresses: of(bounce.bouncedRecipients) };
  // Somebody says that the provider took it for spam wrongly.
  if (complaint?.complaintFeedbackType === 'not-spam') return undefined;
  return complaint && { reason: 'complaint', addresses: of(complaint.complainedRecipients) };
};

/**
 * Stops mail to addresses that bounce or complain. The account's alerts show it; mails that are not ours by account, such as Cognito's
 * codes, are left to SES's own suppression list.
 *
 * The returned function takes one report of SES (JSON). @throws SyntaxError, $ZodError where it is none
 */
export const blockAddresses =
  ({
    users,
    logger,
    now,
  }: {
    readonly users: Pick<Users, 'recipients' | 'blockMail'>;
    readonly logger: Pick<Logger, 'info'>;
    readonly now: () => number;
  }) =>
  async (report: string): Promise<void> => {
    // SES tries the topic before it sends reports there.
    if (report.startsWith('Successfully validated SNS topic')) return;
    const parsed = feedbackSchema.parse(JSON.parse(report));
    const feedback = feedbackOf(parsed);
    const accountId = parsed.mail.tags?.['accountId']?.[0];
    if (feedback === undefined || accountId === undefined) return;
    const { reason } = feedback;
    const days = reason === 'bounce' ? BOUNCE_DAYS : COMPLAINT_DAYS;
    const until = new Date(now() + days * DAY_MS).toISOString();
    for (const { userId, email } of await users.recipients(accountId)) {
      if (!feedback.addresses.includes(email)) continue;
      if (await users.blockMail(accountId, userId, { reason, until }))
        logger.info('mail blocked', { userId, reason, until });
    }
  };
