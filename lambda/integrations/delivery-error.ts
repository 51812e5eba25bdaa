import { MailError } from './mail.ts';
import { UndeliverableError, WaitingError } from './mail-members.ts';
import { WebhookError } from './webhook.ts';

/** True for errors of a channel, whose messages people may read. */
export const isDeliveryError = (error: unknown): error is Error =>
  [MailError, WebhookError, WaitingError, UndeliverableError].some((type) => error instanceof type);
