/** Why a permission is granted that `npm run policies` does not see in use, by a pattern of permissions. */
const reasons: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/ logs:(CreateLogStream|PutLogEvents) /, 'Lambda itself writes the log, with the role of the function.'],
  [
    / sqs:(ReceiveMessage|ChangeMessageVisibility|GetQueueUrl|DeleteMessage|GetQueueAttributes) /,
    'Lambda itself takes messages from the queue, with the role of the function.',
  ],
  [/^web-CustomCDKBucketDeployment/, "CDK's own function copies the pages in a deployment; it does not run here."],
  [/ s3:AbortMultipartUpload /, 'Ends an upload that failed half-way. The uploads here are too small to have parts.'],
  [
    /^alerts-RuleEvaluator (dynamodb:Query|ses:SendEmail) /,
    'Sends what the workers could not: alerts whose first delivery failed. Workers send at once here.',
  ],
  [
    /^alerts-RuleWorker sqs:SendMessage /,
    'Goes on with an account in another job where the time of one ends. No account here takes so long.',
  ],
  [
    /^usage-Sweep dynamodb:BatchGetItem /,
    'Reads the records of events that came twice, of which the outbox here has none.',
  ],
  [
    /^dashboard-api-SettingsHandler s3:GetObject .*requests/,
    'Reads requests of old days for the savings of a weekly report that somebody has sent at once. The report here is daily.',
  ],
  [
    /^usage-Rollup dynamodb:ConditionCheckItem /,
    'Writes a summary that does not fit one transaction, in parts: more combinations in a day than the accounts here have.',
  ],
  [
    /^account-jobs-AccountJobs s3:GetObject .*archives/,
    'Goes on with an archive that takes longer than a run. The archives here are too small.',
  ],
];

export const reasonOf = (grant: string): string | undefined => reasons.find(([pattern]) => pattern.test(grant))?.[1];

/** Why no call of an operation succeeds that `npm run policies` sees. */
export const uncallable: Readonly<Record<string, string>> = {
  openMcpStream: 'The protocol wants 405.',
  endMcpSession: 'The protocol wants 405.',
  receiveStripeEvent: 'The emulator of Stripe calls it, whose calls are not counted.',
};
