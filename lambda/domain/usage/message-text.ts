/**
 * SQS refuses U+FFFE and U+FFFF, which JSON allows; its local emulator also refuses what needs a surrogate pair, such as emoji. Escaped, no
 * queue sees them.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
const NOT_ASCII = /[^ -~]/g;

/** A value as JSON that every queue takes. */
export const messageText = (value: unknown): string =>
  JSON.stringify(value).replace(
    NOT_ASCII,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
