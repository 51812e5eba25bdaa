import { z } from 'zod';

const responseSchema = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish(),
});

/**
 * Which messages of a batch are done and may be deleted, by the rules of Lambda: an answer without failures is success, a
 * malformed answer or an unknown identifier is failure of the whole batch.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html#services-sqs-batchfailurereporting
 * @param answer what the function returned
 * @param reportsItemFailures whether the mapping has ReportBatchItemFailures; without it every answer is success
 */
export const succeeded = (
  messageIds: readonly string[],
  answer: unknown,
  reportsItemFailures: boolean,
): readonly string[] => {
  if (!reportsItemFailures || answer === null || answer === undefined) return messageIds;
  const parsed = responseSchema.safeParse(answer);
  if (!parsed.success) return [];
  const failed = new Set((parsed.data.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
  if ([...failed].some((id) => !messageIds.includes(id))) return [];
  return messageIds.filter((id) => !failed.has(id));
};
