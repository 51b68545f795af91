-- SPDX-License-Identifier: BSD-3-Clause
-- Links between pages of the tree as links between those of the site. PAGES has one "target in the tree, tab, target in the
-- site" a line, for the page that is converted; a target that the site does not have becomes plain text.
local targets = {}
for line in io.lines(os.getenv("PAGES")) do
  local from, to = line:match("^([^\t]*)\t([^\t]*)$")
  targets[from] = to
end

local function resolve(target)
  if target:match("^%a[%w+.-]*:") or target:match("^#") then
    return target
  end
  local path, anchor = target:match("^([^#]*)(#?.*)$")
  return targets[path] and targets[path] .. anchor
end

function Link(link)
  local target = resolve(link.target)
  if not target then
    return link.content
  end
  link.target = target
  return link
end

function Image(image)
  image.src = resolve(image.src) or image.src
  return image
end
