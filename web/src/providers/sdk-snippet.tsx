import { ActionIcon, Group, Select, Tabs, Tooltip } from '@mantine/core';
import { Eye, EyeOff } from 'lucide-react';
import { type ClipboardEvent, useState } from 'react';
import { type CodingToolId, codingTools } from '../../../lambda/domain/coding-tools.ts';
import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import { useApi, useApp, useMe } from '../app.ts';
import { CopyToClipboard } from '../components/copy.tsx';
import { ScrollRegion } from '../components/page.tsx';
import { providerChoices, providerName } from './names.ts';
import classes from './sdk-snippet.module.css';
import {
  type Language,
  languageNames,
  languages,
  PLACEHOLDER,
  type SnippetLine,
  snippet,
  toolTexts,
} from './snippets.ts';

const masked = (key: string) => (key === PLACEHOLDER ? key : `${key.slice(0, 8)}…${key.slice(-4)}`);

const tools = (Object.keys(codingTools) as CodingToolId[]).map((id) => ({ value: id, label: codingTools[id].name }));
const choices = [
  { group: 'SDKs', items: providerChoices },
  { group: 'Coding tools', items: tools },
];

const isTool = (chosen: string): chosen is CodingToolId => Object.hasOwn(codingTools, chosen);

interface Part {
  /** The file that has it; undefined for code. */
  readonly title?: string;
  readonly label: string;
  readonly lines: readonly SnippetLine[];
}

interface SdkSnippetProps {
  readonly serviceKey: string;
  /** The choice that is shown first. */
  readonly initial?: ProviderLabel | CodingToolId;
}

/** How an SDK or a coding tool is pointed at the gateway, with the deployment's host and the user's key. A copy has the full key. */
export const SdkSnippet = ({ serviceKey, initial = 'openai' }: SdkSnippetProps) => {
  const { gatewayUrl, mockProviders: anyCredential } = useApp().settings;
  const [chosen, setChosen] = useState<ProviderLabel | CodingToolId>(initial);
  const [language, setLanguage] = useState<Language>('curl');
  const [revealed, setRevealed] = useState(false);
  const urlOf = (provider: ProviderLabel) => gatewayUrl.replace('{provider}', provider);
  const partsWith = (key: string): readonly Part[] =>
    isTool(chosen)
      ? toolTexts(chosen, { urlOf, serviceKey: key }).map(({ title, text }) => ({
          title,
          label: `${title} of ${codingTools[chosen].name}`,
          lines: text.split('\n').map((line) => ({ text: line, isNew: true })),
        }))
      : [
          {
            label: `${languageNames[language]} snippet for ${providerName(chosen)}`,
            lines: snippet(chosen, language, { url: urlOf(chosen), serviceKey: key, anyCredential }),
          },
        ];
  const whole = partsWith(serviceKey);
  const copyWhole = (event: ClipboardEvent) => {
    event.clipboardData.setData('text/plain', `${getSelection()}`.replaceAll(masked(serviceKey), serviceKey));
    event.preventDefault();
  };
  return (
    <div>
      <Group gap="8px 12px" mb={10}>
        <Select
          size="xs"
          w={160}
          aria-label="SDK or coding tool"
          data={choices}
          value={chosen}
          onChange={(value) => value && setChosen(value)}
          searchable
        />
        {!isTool(chosen) && (
          <Tabs value={language} onChange={(value) => setLanguage(value as Language)} variant="pills">
            <Tabs.List aria-label="Language">
              {languages.map((each) => (
                <Tabs.Tab key={each} value={each} px={12} py={6} fz={13} fw={540}>
                  {languageNames[each]}
                </Tabs.Tab>
              ))}
            </Tabs.List>
          </Tabs>
        )}
      </Group>
      {partsWith(revealed ? serviceKey : masked(serviceKey)).map(({ title, label, lines }, part) => (
        <div key={label} onCopy={copyWhole}>
          <Group justify="space-between" className="mono dim small">
            <span>{title}</span>
            <Group gap={4} ml="auto">
              {part === 0 && serviceKey !== PLACEHOLDER && (
                <Tooltip label={revealed ? 'Hide the key' : 'Show the key'}>
                  <ActionIcon aria-pressed={revealed} aria-label="Show the key" onClick={() => setRevealed(!revealed)}>
                    {revealed ? <EyeOff size={16} /> : <Eye size={16} />}
                  </ActionIcon>
                </Tooltip>
              )}
              <CopyToClipboard
                value={whole[part]?.lines.map(({ text }) => text).join('\n') ?? ''}
                label={title ? `Copy ${title}` : 'Copy the snippet'}
              />
            </Group>
          </Group>
          <ScrollRegion className={`code ${classes['lines']}`} label={label}>
            <pre>
              {lines.map(({ text, isNew }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines of code have no other identity than their number.
                <code key={index} className={isNew ? classes['new'] : undefined}>
                  {text}
                  {'\n'}
                </code>
              ))}
            </pre>
          </ScrollRegion>
        </div>
      ))}
    </div>
  );
};

/**
 * The key to show in snippets: the account's first key, which the API returns as the account id, or a placeholder when that key
 * is revoked, not known, or not shown to the user's role. The other keys are shown only once. Undefined while loading.
 */
export const useOwnKey = (): string | undefined => {
  const { me, query } = useMe();
  const { data: keys, isError } = useApi().useQuery('get', '/keys');
  if (!me || !keys) return isError || query.isError ? PLACEHOLDER : undefined;
  const { accountId } = me.account;
  const isActive = keys.items.some(({ status, maskedKey }) => {
    const [start = '', end = ''] = maskedKey.split('…');
    return status === 'active' && accountId.startsWith(start) && accountId.endsWith(end);
  });
  // Roles that may not revoke it see it masked.
  return isActive && !accountId.includes('…') ? accountId : PLACEHOLDER;
};
