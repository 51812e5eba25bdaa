import { ActionIcon, Group, Select, Tabs, Tooltip } from '@mantine/core';
import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import { useApp } from '../app.ts';
import { CopyToClipboard } from '../components/copy.tsx';
import { ScrollRegion } from '../components/scroll-region.tsx';
import { providerChoices, providerName } from './names.ts';
import classes from './sdk-snippet.module.css';
import { type Language, languageNames, languages, snippet } from './snippets.ts';

const masked = (key: string) => (key.length > 14 ? `${key.slice(0, 8)}…${key.slice(-4)}` : key);

/** The code change for a provider's SDK, with the deployment's host and the user's key. CopyToClipboard always copies the full key. */
export const SdkSnippet = ({ serviceKey }: { readonly serviceKey: string }) => {
  const { settings } = useApp();
  const [provider, setProvider] = useState<ProviderLabel>('openai');
  const [language, setLanguage] = useState<Language>('curl');
  const [revealed, setRevealed] = useState(false);
  const lines = (key: string) =>
    snippet(provider, language, {
      url: settings.gatewayUrl.replace('{provider}', provider),
      serviceKey: key,
      anyCredential: settings.mockProviders,
    });
  const code = lines(serviceKey)
    .map(({ text }) => text)
    .join('\n');
  return (
    <div>
      <Group gap="8px 12px" mb={10}>
        <Select
          size="xs"
          w={160}
          aria-label="Provider"
          data={providerChoices}
          value={provider}
          onChange={(value) => value && setProvider(value)}
          allowDeselect={false}
          searchable
        />
        <Tabs value={language} onChange={(value) => setLanguage(value as Language)} variant="pills">
          <Tabs.List aria-label="Language">
            {languages.map((each) => (
              <Tabs.Tab key={each} value={each} className={classes['tab']}>
                {languageNames[each]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Tabs>
        <Group gap={2} ml="auto">
          <Tooltip label={revealed ? 'Hide the key' : 'Show the key'}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-pressed={revealed}
              aria-label="Show the key"
              onClick={() => setRevealed(!revealed)}
            >
              {revealed ? <EyeOff size={16} /> : <Eye size={16} />}
            </ActionIcon>
          </Tooltip>
          <CopyToClipboard value={code} label="Copy the snippet" />
        </Group>
      </Group>
      <ScrollRegion
        className={`code ${classes['lines']}`}
        label={`${languageNames[language]} snippet for ${providerName(provider)}`}
      >
        <pre>
          {lines(revealed ? serviceKey : masked(serviceKey)).map(({ text, isNew }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines of code have no other identity than their number.
            <code key={index} className={isNew ? classes['new'] : undefined}>
              {text}
              {'\n'}
            </code>
          ))}
        </pre>
      </ScrollRegion>
    </div>
  );
};
