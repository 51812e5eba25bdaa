import { describe, expect, it } from '@jest/globals';
import { ACTIVE_RULE_SHARDS } from '../../../lambda/data/table/keys.ts';
import { onlyResource, resourcesOf, synthStage } from '../synth-stage.ts';

describe('the rule evaluator', () => {
  const alerts = synthStage()('alerts');
  const functions = Object.entries(resourcesOf(alerts, 'AWS::Lambda::Function'));
  const named = (name: string) => functions.find(([id]) => id.startsWith(name)) ?? [];
  const queues = Object.entries(resourcesOf(alerts, 'AWS::SQS::Queue'));
  const [queueId, queue] = queues.find(([, { Properties }]) => 'RedrivePolicy' in Properties) ?? [];
  const [deadLetterId] = queues.find(([, { Properties }]) => !('RedrivePolicy' in Properties)) ?? [];
  const [workerId, worker] = named('RuleWorker');
  const [evaluatorId, evaluator] = named('RuleEvaluator');

  it('starts a round every minute', () => {
    expect(onlyResource(alerts, 'AWS::Events::Rule').Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      Targets: [{ Arn: { 'Fn::GetAtt': [evaluatorId, 'Arn'] } }],
    });
  });

  it('has one worker for each shard at most, and one job for each invocation', () => {
    expect(onlyResource(alerts, 'AWS::Lambda::EventSourceMapping').Properties).toMatchObject({
      EventSourceArn: { 'Fn::GetAtt': [queueId, 'Arn'] },
      FunctionName: { Ref: workerId },
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: ACTIVE_RULE_SHARDS },
    });
  });

  it('has both functions send jobs to the queue', () => {
    for (const each of [worker, evaluator])
      expect(each?.Properties['Environment']).toMatchObject({ Variables: { JOB_QUEUE_URL: { Ref: queueId } } });
  });

  it('gives a job of a dead worker to another soon, and up before the evaluator sends it again', () => {
    const visibility = Number(queue?.Properties['VisibilityTimeout']);
    expect(visibility).toBeGreaterThan(Number(worker?.Properties['Timeout']));
    expect(queue?.Properties['RedrivePolicy']).toEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': [deadLetterId, 'Arn'] },
      maxReceiveCount: 3,
    });
    // LOST_MS of lambda/rule-evaluator/start-round.ts.
    expect(3 * visibility).toBeLessThan(600);
  });
});
