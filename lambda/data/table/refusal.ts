import { AwsCallError } from '../../aws/aws-json.ts';

/** The table refused a write, since its condition does not hold. */
export const isConditionFailed = (error: unknown): error is AwsCallError =>
  error instanceof AwsCallError && error.code === 'ConditionalCheckFailedException';

/**
 * Why each action of a transaction was refused, in their order, such as `ConditionalCheckFailed` or `None`; undefined where the error is
 * another.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
export const cancellationCodes = (error: unknown): string[] | undefined => {
  if (!(error instanceof AwsCallError) || error.code !== 'TransactionCanceledException') return undefined;
  const reasons = (error.output['CancellationReasons'] ?? []) as readonly { readonly Code?: string }[];
  return reasons.map(({ Code = 'None' }) => Code);
};
