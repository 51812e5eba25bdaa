import { describe, expect, it } from '@jest/globals';
import { datasets } from '../../../lambda/domain/exports/datasets.ts';
import { onlyResource, resourcesOf, synthStage } from '../synth-stage.ts';

describe('the tables of exports', () => {
  const template = synthStage()('exports');
  const tables = Object.values(resourcesOf(template, 'AWS::Glue::Table')).map(
    ({ Properties }) =>
      Properties['TableInput'] as {
        Name: string;
        Parameters: Record<string, unknown>;
        StorageDescriptor: { Columns: { Name: string; Type: string }[] };
      },
  );

  it('compute their partitions: an account, which a query names, and a day', () => {
    expect(tables.map(({ Name }) => Name)).toEqual(['cost_and_usage', 'requests', 'names']);
    for (const { Name, Parameters } of tables) {
      expect(Parameters).toMatchObject({
        'projection.enabled': 'true',
        'projection.account.type': 'injected',
        'projection.day.type': 'date',
      });
      expect(JSON.stringify(Parameters['storage.location.template'])).toContain(
        `/exports/\${account}/${Name.replaceAll('_', '-')}/parquet/\${day}/`,
      );
    }
  });

  it('have the columns of the files, costs as decimals of nine digits', () => {
    const [costs, requests] = tables.map(({ StorageDescriptor }) => StorageDescriptor.Columns);
    expect(costs).toHaveLength(datasets['cost-and-usage'].columns.length);
    expect(costs).toContainEqual({ Name: 'effectivecost', Type: 'decimal(18,9)' });
    expect(requests).toContainEqual({ Name: 'cost_usd', Type: 'decimal(18,9)' });
    expect(requests).toContainEqual({ Name: 'started_at', Type: 'timestamp' });
  });

  it('are queried in a workgroup that limits what a query reads, and encrypts its results', () => {
    expect(onlyResource(template, 'AWS::Athena::WorkGroup').Properties).toMatchObject({
      WorkGroupConfiguration: {
        BytesScannedCutoffPerQuery: 100_000_000_000,
        EnforceWorkGroupConfiguration: true,
        ResultConfiguration: { EncryptionConfiguration: { EncryptionOption: 'SSE_S3' } },
      },
    });
    const queries = Object.values(resourcesOf(template, 'AWS::Athena::NamedQuery'));
    expect(queries.map(({ Properties }) => Properties['Name'])).toHaveLength(4);
    for (const { Properties } of queries) expect(Properties['QueryString']).toContain("account = 'ACCOUNT'");
    // Earlier files have no x_cost.
    for (const { Properties } of queries) expect(Properties['QueryString']).not.toContain('sum(x_cost)');
  });

  it('are written by runs that end before the next begins', () => {
    const exporter = Object.entries(resourcesOf(template, 'AWS::Lambda::Function')).find(([id]) =>
      id.startsWith('Exporter'),
    );
    expect(exporter?.[1].Properties).toMatchObject({ Timeout: 900 });
    // A new account of AWS has none to reserve.
    expect(exporter?.[1].Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    expect(onlyResource(template, 'AWS::Events::Rule').Properties).toMatchObject({
      ScheduleExpression: 'rate(20 minutes)',
    });
  });
});
