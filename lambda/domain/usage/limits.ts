/** Limits on client values in a record. Longer values are cut. Tags and metadata count code points, the others UTF-16 units. */
export const MAX_TAG_CHARACTERS = 64;
export const MAX_MODEL_CHARACTERS = 128;
export const MAX_TIER_CHARACTERS = 64;
export const MAX_PATH_CHARACTERS = 256;
export const MAX_METADATA_PAIRS = 10;
/** Names and values have at most this length. */
export const MAX_METADATA_CHARACTERS = 64;
/** Ids of budgets and pauses have at most this length. */
export const MAX_BLOCK_ID_CHARACTERS = 64;
export const MAX_CLIENT_CHARACTERS = 64;
/** Longer ids of sessions and agents are hashed, not cut: the first characters of two sessions may be the same. */
export const MAX_SESSION_ID_CHARACTERS = 64;

/**
 * An SQS message may have 1 MiB. Events stay far below it, so that ten fit into one batch.
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
 */
export const MAX_RAW_USAGE_BYTES = 16_384;

/**
 * The recorder accepts no older event. Every plan keeps records for at least 30 days, so the record of an event that it accepts still
 * exists if there ever was one, whatever the plans of the account were: the event cannot be counted twice. The day between the two is
 * for clocks that differ.
 */
export const MAX_EVENT_AGE_DAYS = 29;

/** Events that can never be recorded stay in the table this long, for an operator. */
export const REFUSED_DAYS = 90;
