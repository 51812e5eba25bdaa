import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { tableDefinition } from '../../../fixtures/emulated-table.ts';
import { ARCHIVE_DAYS } from '../../../lambda/data/accounts/archives.ts';
import { plans } from '../../../lambda/domain/billing/plans.ts';
import { filledIn, onlyResource, published, stripped, synthStage } from '../synth-stage.ts';

it('the bucket deletes objects when nobody may need them any more', () => {
  const { LifecycleConfiguration } = onlyResource(synthStage()('data'), 'AWS::S3::Bucket').Properties;
  const rules = z
    .object({ Rules: z.array(z.looseObject({ Id: z.string(), ExpirationInDays: z.number().optional() })) })
    .parse(LifecycleConfiguration).Rules;
  expect(Object.fromEntries(rules.map(({ Id, ExpirationInDays }) => [Id, ExpirationInDays]))).toEqual({
    unfinished: undefined,
    archives: ARCHIVE_DAYS + 1,
    exports: plans.SCALE.requestRetentionDays,
    'exports-30': plans.FREE.requestRetentionDays,
    'exports-90': plans.STARTER.requestRetentionDays,
    'athena-results': 7,
  });
  expect(rules[0]).toMatchObject({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 2 } });
});

describe('the table', () => {
  const table = onlyResource(synthStage()('data'), 'AWS::DynamoDB::Table');

  it('has the keys and the index of the one that tests emulate', () => {
    const { TableName: _, ...definition } = tableDefinition('any');
    expect(table.Properties).toMatchObject({
      ...definition,
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    });
  });

  it('is encrypted, restorable to a point in time, and protected against deletion', () => {
    expect(table.Properties).toMatchObject({
      SSESpecification: { SSEEnabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
    });
    expect(table.DeletionPolicy).toBe('Retain');
  });

  it.each([
    { settings: {}, warm: undefined },
    { settings: stripped, warm: undefined },
    { settings: published, warm: { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 40_000 } },
    { settings: filledIn, warm: { ReadUnitsPerSecond: 15_000, WriteUnitsPerSecond: 9_000 } },
  ])('takes at once what $settings.expectedRequestsPerSecond and $settings.table need', ({ settings, warm }) => {
    const { Properties } = onlyResource(synthStage(settings)('data'), 'AWS::DynamoDB::Table');
    expect(Properties['WarmThroughput']).toEqual(warm);
  });

  it('can be thrown away in a stage that says so', () => {
    const disposable = onlyResource(synthStage(stripped)('data'), 'AWS::DynamoDB::Table');
    expect(disposable.DeletionPolicy).toBe('Delete');
    expect(disposable.Properties['DeletionProtectionEnabled']).toBe(false);
  });

  it('can be one that a restore made, while the stack keeps its own and what others may still import of it', () => {
    const stage = synthStage({ restoredTable: 'spend-restored' });
    expect(onlyResource(stage('data'), 'AWS::DynamoDB::Table').DeletionPolicy).toBe('Retain');
    expect(stage('data').toJSON()['Outputs']).toMatchObject({ TableName: { Value: 'spend-restored' } });
    const exported = (of: ReturnType<typeof stage>) =>
      Object.values(of.toJSON()['Outputs'] as Record<string, { Export?: { Name: string } }>).flatMap(({ Export }) =>
        Export?.Name.includes('Table') ? Export.Name : [],
      );
    expect(exported(stage('data')).sort()).toEqual(exported(synthStage()('data')).sort());
    expect(exported(stage('data'))).toHaveLength(2);
    for (const name of ['gateway', 'usage', 'dashboard-api', 'alerts', 'billing'] as const) {
      const text = JSON.stringify(stage(name).toJSON());
      expect(text).not.toMatch(/ai-spend-dev-data:ExportsOutput[A-Za-z]*Table/);
      expect(text).toContain('spend-restored');
    }
  });
});
