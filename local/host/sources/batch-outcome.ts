import { z } from 'zod';

const responseSchema = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish(),
});

/**
 * Which messages of a batch are done and may be deleted, by the rules of Lambda: a response without failures is success; a
 * malformed response or an unknown identifier fails the whole batch.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html#services-sqs-batchfailurereporting
 * @param response what the function returned
 * @param reportsItemFailures whether the mapping has ReportBatchItemFailures; without it every response is success
 */
export const succeeded = (
  messageIds: readonly string[],
  response: unknown,
  reportsItemFailures: boolean,
): readonly string[] => {
  if (!reportsItemFailures || response === null || response === undefined) return messageIds;
  const parsed = responseSchema.safeParse(response);
  if (!parsed.success) return [];
  const failed = new Set((parsed.data.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
  if ([...failed].some((id) => !messageIds.includes(id))) return [];
  return messageIds.filter((id) => !failed.has(id));
};
